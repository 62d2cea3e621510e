package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.djlplan.delegation.Download.Limits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is fetched from HTTPS servers, and through proxies. */
@Timeout(60)
class SecureDownloadTest {

    private static final byte[] CONTENT = new byte[1000];
    private static final Limits LIMITS =
            new Limits(Duration.ofSeconds(10), Duration.ofSeconds(10), CONTENT.length);

    @TempDir Path folder;

    private SecureServer secure;
    private HttpServer plain;

    @BeforeEach
    void serve() throws Exception {
        secure = new SecureServer(folder);
        secure.server()
                .createContext(
                        "/there",
                        exchange -> DownloadTest.answer(exchange, CONTENT.length, CONTENT));
        plain = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        plain.createContext(
                "/there", exchange -> DownloadTest.answer(exchange, CONTENT.length, CONTENT));
        plain.start();
    }

    @AfterEach
    void stop() {
        secure.close();
        plain.stop(0);
    }

    private URI secure(String host, String path) {
        return URI.create("https://" + host + ":" + secure.port() + path);
    }

    private URI plain(String host, String path) {
        return URI.create("http://" + host + ":" + plain.getAddress().getPort() + path);
    }

    private static void assertThere(URI uri) throws IOException {
        try (Download download = Download.of(uri, LIMITS)) {
            assertArrayEquals(CONTENT, Files.readAllBytes(download.file()));
        }
    }

    private static String failure(URI uri, Limits limits) {
        return assertThrows(IOException.class, () -> Download.of(uri, limits).close()).toString();
    }

    @Test
    void of_trustedServer_isThere() throws IOException {
        secure.trust();
        assertThere(secure("localhost", "/there"));
    }

    @Test
    void of_serverThatNobodyTrusts_isRefused() {
        String message = failure(secure("localhost", "/there"), LIMITS);
        assertTrue(message.contains("SSLHandshakeException"), message);
    }

    @Test
    void of_certificateOfAnotherHost_isRefused() {
        secure.trust();
        String message = failure(secure("127.0.0.1", "/there"), LIMITS);
        assertTrue(message.contains("SSLHandshakeException"), message);
    }

    @Test
    void of_redirectionToHttps_isFollowed() throws IOException {
        secure.trust();
        plain.createContext(
                "/", DownloadTest.redirection(secure("localhost", "/there").toString()));
        assertThere(plain("localhost", "/"));
    }

    @Test
    void of_redirectionFromHttps_isNotFollowed() {
        secure.trust();
        secure.server()
                .createContext(
                        "/", DownloadTest.redirection(plain("localhost", "/there").toString()));
        String message = failure(secure("localhost", "/"), LIMITS);
        assertTrue(message.endsWith(": redirected to http"), message);
    }

    @Test
    void of_moreThanThereMayBe_isNotRead() {
        secure.trust();
        Limits less = new Limits(Duration.ofSeconds(10), Duration.ofSeconds(10), 999);
        String message = failure(secure("localhost", "/there"), less);
        assertTrue(message.endsWith(": 1000 bytes, more than 999"), message);
    }

    /** It takes the connection, and does not shake hands. */
    @Test
    void of_silentServer_isGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            URI uri = URI.create("https://localhost:" + silent.getLocalPort());
            Limits limits = new Limits(Duration.ofMillis(200), Duration.ofSeconds(20), 1000);
            String message = failure(uri, limits);
            assertTrue(message.contains("timed out"), message);
        }
    }

    @Test
    void of_redirectionToHttpsThroughAProxy_isFollowed() throws IOException {
        secure.trust();
        plain.createContext(
                "/", DownloadTest.redirection(secure(TestProxy.HOST, "/there").toString()));
        URI uri = plain(TestProxy.HOST, "/");
        try (TestProxy proxy = new TestProxy()) {
            assertThere(uri);
            assertEquals(
                    List.of(
                            "GET " + uri + " HTTP/1.1",
                            "CONNECT " + TestProxy.HOST + ":" + secure.port() + " HTTP/1.1"),
                    proxy.requests());
        }
    }

    @Test
    void of_proxyThatIsAway_isAnError() throws IOException {
        secure.trust();
        try (TestProxy proxy = new TestProxy()) {
            proxy.stop();
            for (URI uri :
                    List.of(plain(TestProxy.HOST, "/there"), secure(TestProxy.HOST, "/there"))) {
                String message = failure(uri, LIMITS);
                assertTrue(message.contains("ConnectException"), message);
            }
        }
    }
}
