package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.delegation.Download.Limits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Servers of all kinds. What hangs for good is given up: else these tests do not end. */
@Timeout(60)
class DownloadTest {

    private static final byte[] CONTENT = new byte[1000];
    private static final Limits LIMITS =
            new Limits(Duration.ofSeconds(10), Duration.ofSeconds(10), CONTENT.length);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch hungUp = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private URI at(String path) {
        return URI.create("http://localhost:" + server.getAddress().getPort() + path);
    }

    private String failure(HttpHandler handler, Limits limits) throws IOException {
        server.createContext("/", handler);
        long before = temporaryFiles();
        String message = failure(at("/"), limits);
        assertEquals(before, temporaryFiles());
        return message;
    }

    static String failure(URI uri, Limits limits) {
        return assertThrows(IOException.class, () -> Download.of(uri, limits).close()).getMessage();
    }

    private static long temporaryFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            String own = "djlplan-" + ProcessHandle.current().pid() + "-";
            return files.filter(file -> file.getFileName().toString().startsWith(own)).count();
        }
    }

    static void answer(HttpExchange exchange, int bytes, byte[] content) throws IOException {
        exchange.sendResponseHeaders(200, bytes);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(content);
        }
    }

    static HttpHandler redirection(String to) {
        return exchange -> {
            exchange.getResponseHeaders().set("Location", to);
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        };
    }

    @Test
    void of_asLargeAsItMayBe_isThereUntilItIsClosed() throws IOException {
        server.createContext("/", exchange -> answer(exchange, CONTENT.length, CONTENT));
        Path file;
        try (Download download = Download.of(at("/"), LIMITS)) {
            file = download.file();
            assertArrayEquals(CONTENT, Files.readAllBytes(file));
        }
        assertFalse(Files.exists(file));
    }

    @Test
    void of_redirection_isFollowed() throws IOException {
        server.createContext("/there", exchange -> answer(exchange, 0, CONTENT));
        server.createContext("/", redirection("/there"));
        try (Download download = Download.of(at("/"), LIMITS)) {
            assertEquals(CONTENT.length, Files.size(download.file()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/, more than 3 redirections",
        "file:///etc/passwd, redirected to file",
        "http://[/, redirected to no URL",
        "http:///there, redirected to no host"
    })
    void of_redirectionThatLeadsNowhere_isNotFollowed(String to, String error) throws IOException {
        assertEquals(error, failure(redirection(to), LIMITS));
    }

    @Test
    void of_saidToBeTooLarge_isNotRead() throws IOException {
        byte[] more = new byte[CONTENT.length + 1];
        assertEquals(
                "1001 bytes, more than 1000",
                failure(exchange -> answer(exchange, more.length, more), LIMITS));
    }

    /** In chunks, of which nobody says how many there are. */
    @Test
    void of_endless_isGivenUp() throws IOException {
        HttpHandler endless =
                exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    try (OutputStream out = exchange.getResponseBody()) {
                        while (end.getCount() > 0) {
                            out.write(CONTENT);
                        }
                    }
                };
        assertEquals("more than 1000 bytes", failure(endless, LIMITS));
    }

    @Test
    void of_lessThanSaid_isAnError() throws IOException {
        String message =
                failure(
                        exchange -> {
                            exchange.sendResponseHeaders(200, CONTENT.length);
                            exchange.getResponseBody().write(CONTENT, 0, 10);
                            exchange.getResponseBody().flush();
                            exchange.close();
                        },
                        LIMITS);
        assertTrue(message.contains("10 of 1000 bytes") || message.contains("EOF"), message);
    }

    /** A byte now and then, so that no silence is too long. */
    @Test
    void of_slow_isGivenUpInTime() throws IOException {
        HttpHandler slow =
                exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    try (OutputStream out = exchange.getResponseBody()) {
                        do {
                            out.write(1);
                            out.flush();
                        } while (!waited(20));
                    }
                };
        Limits limits = new Limits(Duration.ofSeconds(10), Duration.ofMillis(300), 1 << 20);
        assertEquals("not there in 300 ms", failure(slow, limits));
    }

    private boolean waited(long millis) {
        try {
            return end.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return true;
        }
    }

    /** It takes the connection, and says nothing. */
    @Test
    void of_silentServer_isGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            URI uri = URI.create("http://localhost:" + silent.getLocalPort());
            Limits limits = new Limits(Duration.ofMillis(200), Duration.ofSeconds(20), 1000);
            String message = failure(uri, limits);
            assertTrue(message.contains("timed out"), message);
        }
    }

    /** Returns the URL of one who writes the same again and again, and never ends. */
    private URI endless(String beginning, String more, long pauseMillis) throws IOException {
        ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        threads.execute(
                () -> {
                    try (socket;
                            Socket client = socket.accept();
                            OutputStream out = client.getOutputStream()) {
                        out.write(beginning.getBytes(StandardCharsets.US_ASCII));
                        do {
                            out.write(more.getBytes(StandardCharsets.US_ASCII));
                        } while (!waited(pauseMillis));
                    } catch (IOException e) {
                        // Nobody listens any more.
                        hungUp.countDown();
                    }
                });
        return URI.create("http://localhost:" + socket.getLocalPort());
    }

    /** A byte of it now and then: no silence is too long, and there is nothing to be written. */
    @Test
    void of_slowHead_isGivenUpAndHungUp() throws Exception {
        URI uri = endless("HTTP/1.1 200 OK\r\nX: ", "x", 20);
        Limits limits = new Limits(Duration.ofMillis(200), Duration.ofMillis(100), 1000);
        assertEquals("not there in 100 ms", failure(uri, limits));
        hungUp.await();
    }

    /** Java reads no head without end. */
    @Test
    void of_endlessHead_isGivenUp() throws Exception {
        URI uri = endless("HTTP/1.1 200 OK\r\n", "X: " + "x".repeat(1000) + "\r\n", 0);
        assertThrows(IOException.class, () -> Download.of(uri, LIMITS).close());
        hungUp.await();
    }
}
