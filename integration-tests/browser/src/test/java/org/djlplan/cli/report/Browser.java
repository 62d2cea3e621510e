package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;

/**
 * A headless Chromium that opens report pages from files. All tests of a class share one browser,
 * and no test may leave errors in its console.
 */
final class Browser implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    /** The settings that a page is viewed with. */
    enum Look {
        WIDE_LIGHT(1280, 800, "light"),
        WIDE_DARK(1280, 800, "dark"),
        NARROW_LIGHT(420, 800, "light"),
        NARROW_DARK(420, 800, "dark");

        private final int width;
        private final int height;
        private final String scheme;

        Look(int width, int height, String scheme) {
            this.width = width;
            this.height = height;
            this.scheme = scheme;
        }
    }

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Path PAGES = Path.of(System.getProperty("djlplan.pages"));

    private ChromeDriver driver;
    private Path profile;

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        profile = Files.createTempDirectory("djl-plan-browser");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(System.getProperty("djlplan.chromium"));
        options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--user-data-dir=" + profile);
        ChromeDriverService service =
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(
                                Path.of(System.getProperty("djlplan.chromedriver")).toFile())
                        .build();
        driver = new ChromeDriver(service, options);
    }

    /** Shows a report as a user's browser would, from a file. */
    void open(JsonObject data, Look look) throws IOException {
        open(ReportFile.html(data), look);
    }

    void open(String html, Look look) throws IOException {
        Files.createDirectories(PAGES);
        Path page = Files.createTempFile(PAGES, "report", ".html");
        Files.writeString(page, html, StandardCharsets.UTF_8);
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of(
                        "width",
                        look.width,
                        "height",
                        look.height,
                        "deviceScaleFactor",
                        1,
                        "mobile",
                        false));
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(Map.of("name", "prefers-color-scheme", "value", look.scheme))));
        driver.get(page.toUri().toString());
        await("return performance.getEntriesByName('page made').length > 0");
        frames();
    }

    /** Waits until a script returns true. */
    void await(String script) {
        new WebDriverWait(driver, PATIENCE).until(there -> Boolean.TRUE.equals(run(script)));
    }

    /** Waits until everything due before the next frame is painted. */
    void frames() {
        ((JavascriptExecutor) driver)
                .executeAsyncScript(
                        "const done = arguments[0];requestAnimationFrame(() =>"
                                + " requestAnimationFrame(() => done()))");
    }

    Object run(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    Object runAsync(String script, Object... arguments) {
        driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(2));
        return ((JavascriptExecutor) driver).executeAsyncScript(script, arguments);
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    List<WebElement> findAll(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** Returns the text of the first element, as it is in the document. */
    String text(String selector) {
        return (String) run("return document.querySelector(arguments[0]).textContent", selector);
    }

    List<String> texts(String selector) {
        List<String> texts = new ArrayList<>();
        for (Object text :
                (List<?>)
                        run(
                                "return Array.from(document.querySelectorAll(arguments[0]),"
                                        + " (each) => each.textContent)",
                                selector)) {
            texts.add((String) text);
        }
        return texts;
    }

    /** Shows a view of the page. */
    void show(String view) {
        run("document.getElementById(arguments[0]).click()", "tab-" + view);
        frames();
    }

    /** Opens everything that can be opened. */
    void unfold() {
        run("document.querySelectorAll('details').forEach((each) => (each.open = true))");
        frames();
    }

    Actions actions() {
        return new Actions(driver, Duration.ofMillis(20));
    }

    /** Returns the console's warnings and errors since the last call. */
    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(Object::toString)
                .toList();
    }

    /** Stores a picture for people to look at. */
    void screenshot(String name) throws IOException {
        Files.write(PAGES.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertEquals(List.of(), complaints());
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        driver.quit();
        org.djlplan.thirdparty.guava.io.MoreFiles.deleteRecursively(
                profile, org.djlplan.thirdparty.guava.io.RecursiveDeleteOption.ALLOW_INSECURE);
    }
}
