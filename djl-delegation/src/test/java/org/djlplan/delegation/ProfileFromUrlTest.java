package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs whose choice is in an archive of a web server. */
@Timeout(60)
class ProfileFromUrlTest extends PinnedFixture {

    private final List<String> requests = new CopyOnWriteArrayList<>();

    private HttpServer server;
    private byte[] content;
    private int code = 200;

    @BeforeEach
    void serve() throws IOException {
        content = Files.readAllBytes(archived("zip", keptElsewhere(TABLE, key(List.of(2)))));
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/",
                exchange -> {
                    requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
                    exchange.sendResponseHeaders(code, content.length);
                    exchange.getResponseBody().write(content);
                    exchange.close();
                });
        server.start();
    }

    @AfterEach
    void stopServer() {
        server.stop(0);
    }

    private String url() {
        return "http://localhost:" + server.getAddress().getPort() + "/job.zip?token=secret";
    }

    @Test
    void choose_archiveOfAServer_isReadOnceAndServes() throws Exception {
        DelegationChoice choice = from(url(), "delegation.onMissing", "fail").first();

        assertEquals(TABLE.chosen(), choice.candidate());
        assertEquals(Origin.STORED, choice.origin());
        assertEquals(List.of(), log.lines("WARN"));
        afterwards();
        assertNull(better.poll());
        assertEquals(List.of("GET /job.zip?token=secret"), requests);
        assertFalse(Files.exists(model.file().resolveSibling(".djlplan")));
    }

    /** Makes the server one that has nothing of use. */
    private void spoil(String how) {
        switch (how) {
            case "absent" -> code = 404;
            case "failing" -> code = 500;
            case "stopped" -> server.stop(0);
            case "no archive" -> content = new byte[100];
            case "cut off" -> content = Arrays.copyOf(content, content.length / 2);
            default -> throw new IllegalArgumentException(how);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"absent", "failing", "stopped", "no archive", "cut off"})
    void choose_nothingOfUse_isAsOnMissingSays(String how) throws Exception {
        String url = url();
        spoil(how);
        Choosing cpu = from(url, "delegation.onMissing", "cpu");
        assertEquals(CPU, cpu.first().candidate());
        assertWarnedOnce();

        String message =
                assertThrows(
                                UnusableOptionException.class,
                                () -> from(url, "delegation.onMissing", "fail"))
                        .getMessage();
        assertTrue(message.contains("looked in http://localhost:"), message);
        assertFalse(message.contains("secret"), message);

        CountDownLatch measured = new CountDownLatch(1);
        Choosing measuring =
                choose(
                        (request, runner, progress, verified) -> {
                            measured.countDown();
                            return TABLE;
                        },
                        Map.of("delegation.profileFrom", url));
        assertEquals(CPU, measuring.first().candidate());
        assertTrue(measured.await(20, TimeUnit.SECONDS));
    }

    private void assertWarnedOnce() {
        List<String> warnings = log.lines("WARN");
        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(warnings.get(0).contains("delegation.profileFrom=http://"), warnings::toString);
        assertFalse(warnings.get(0).contains("secret"), warnings::toString);
    }

    @Test
    void choose_archiveOfAnHttpsServerBehindAProxy_serves() throws Exception {
        try (SecureServer secure = new SecureServer(folder);
                TestProxy proxy = new TestProxy()) {
            secure.trust();
            secure.server()
                    .createContext(
                            "/",
                            exchange -> DownloadTest.answer(exchange, content.length, content));
            String url = "https://" + TestProxy.HOST + ":" + secure.port() + "/job.zip";
            DelegationChoice choice = from(url, "delegation.onMissing", "fail").first();

            assertEquals(TABLE.chosen(), choice.candidate());
            assertEquals(Origin.STORED, choice.origin());
            assertEquals(List.of(), log.lines("WARN"));
            assertEquals(1, proxy.requests().size());
        }
    }

    /** The next place is looked in, and the job is pinned as ever. */
    @Test
    void choose_serverAwayAndKeptBesideTheModel_thatServes() throws Exception {
        code = 503;
        Path beside = keptElsewhere(TABLE, key(List.of(2))).resolve(".djlplan");
        Files.move(beside, model.file().resolveSibling(".djlplan"));
        assertEquals(
                TABLE.chosen(), from(url(), "delegation.onMissing", "fail").first().candidate());
        afterwards();
        assertNull(better.poll());
    }
}
