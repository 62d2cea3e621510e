package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.Authenticator;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.Download.Limits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers and proxies that want a password: who is told it, and who is not. */
@Timeout(60)
class PasswordsTest {

    private static final byte[] CONTENT = new byte[1000];
    private static final Limits LIMITS =
            new Limits(Duration.ofSeconds(10), Duration.ofSeconds(10), CONTENT.length);
    private static final String SECRET = "se:c@ret";

    private final List<String> told = Collections.synchronizedList(new ArrayList<>());

    @TempDir Path folder;

    private HttpServer plain;
    private SecureServer secure;

    @BeforeEach
    void serve() throws Exception {
        secure = new SecureServer(folder);
        secure.trust();
        secure.server().createContext("/", this::answer);
        plain = newServer();
        plain.createContext("/", this::answer);
    }

    @AfterEach
    void stop() {
        Authenticator.setDefault(null);
        plain.stop(0);
        secure.close();
    }

    private static HttpServer newServer() throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
        return server;
    }

    private void answer(HttpExchange exchange) throws IOException {
        told.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
        DownloadTest.answer(exchange, CONTENT.length, CONTENT);
    }

    private void answerIfTold(HttpExchange exchange) throws IOException {
        if (basic("me", SECRET).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
            answer(exchange);
            return;
        }
        exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"x\"");
        exchange.sendResponseHeaders(401, -1);
        exchange.close();
    }

    private static String basic(String user, String password) {
        byte[] both = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(both);
    }

    private static void passwordOfTheApplication() {
        Authenticator.setDefault(
                new Authenticator() {
                    @Override
                    protected PasswordAuthentication getPasswordAuthentication() {
                        return new PasswordAuthentication("me", SECRET.toCharArray());
                    }
                });
    }

    private URI at(HttpServer server, String user, String path) {
        return URI.create("http://" + user + "localhost:" + server.getAddress().getPort() + path);
    }

    private static void assertThere(URI uri) throws IOException {
        try (Download download = Download.of(uri, LIMITS)) {
            assertArrayEquals(CONTENT, Files.readAllBytes(download.file()));
        }
    }

    private static String failure(URI uri) {
        String message =
                assertThrows(IOException.class, () -> Download.of(uri, LIMITS).close()).toString();
        assertFalse(message.contains("cret"), message);
        return message;
    }

    @Test
    void of_passwordInTheUrl_isToldToThatServer() throws IOException {
        plain.createContext("/closed", this::answerIfTold);
        assertThere(at(plain, "me:se%3Ac%40ret@", "/closed"));
    }

    @ParameterizedTest
    @CsvSource({
        "https://host/, https://host:443/other, true",
        "https://HOST:443/, https://host/, true",
        "http://host/, http://host:80/, true",
        "https://host/, https://host:8443/, false",
        "https://host/, http://host:443/, false",
        "https://host/, https://host.example/, false"
    })
    void isTheSameServer_alsoWherePortsAreSaid(URI given, URI other, boolean same)
            throws IOException {
        assertEquals(same, new Passwords(given).isTheSameServer(other));
    }

    @Test
    void of_passwordOfTheApplication_isToldIfItIsWanted() throws IOException {
        plain.createContext("/closed", this::answerIfTold);
        passwordOfTheApplication();
        assertThere(at(plain, "", "/"));
        assertEquals(List.of("null"), told);
        assertThere(at(plain, "", "/closed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "me@", "me:other@"})
    void of_serverWantsAnother_isAnErrorThatSaysSo(String user) {
        plain.createContext("/closed", this::answerIfTold);
        String message = failure(at(plain, user, "/closed?sig=secret"));
        assertTrue(message.contains("the server answers 401"), message);
    }

    /** An object store's server leads to another one. */
    @Test
    void of_redirectionToAnotherServer_thatOneIsNotToldThePassword() throws IOException {
        HttpServer other = newServer();
        try {
            other.createContext("/", this::answer);
            plain.createContext(
                    "/away", DownloadTest.redirection(at(other, "you:too@", "/").toString()));
            assertThere(at(plain, "me:se%3Ac%40ret@", "/away"));
            assertEquals(List.of("null"), told);
            plain.createContext("/here", DownloadTest.redirection("/"));
            assertThere(at(plain, "me:se%3Ac%40ret@", "/here"));
            assertEquals(List.of("null", basic("me", SECRET)), told);
        } finally {
            other.stop(0);
        }
    }

    private URI behindTheProxy(String scheme) {
        int port = scheme.equals("https") ? secure.port() : plain.getAddress().getPort();
        return URI.create(scheme + "://u:secret@" + TestProxy.HOST + ":" + port + "/");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "https"})
    void of_proxyWithPasswordOfProperties_isPassed(String scheme) throws IOException {
        try (TestProxy proxy = new TestProxy(Optional.of("me:" + SECRET))) {
            System.setProperty(scheme + ".proxyUser", "me");
            System.setProperty(scheme + ".proxyPassword", SECRET);
            assertThere(behindTheProxy(scheme));
            assertEquals(List.of(basic("u", "secret")), told);
            assertFalse(proxy.requests().toString().contains("secret"), proxy.requests()::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "https"})
    void of_proxyWithPasswordOfTheApplication_isPassed(String scheme) throws IOException {
        try (TestProxy proxy = new TestProxy(Optional.of("me:" + SECRET))) {
            passwordOfTheApplication();
            assertThere(behindTheProxy(scheme));
            assertFalse(proxy.requests().isEmpty());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "https"})
    void of_proxyWithoutPassword_isAnErrorThatSaysWhatToSet(String scheme) throws IOException {
        try (TestProxy proxy = new TestProxy(Optional.of("me:" + SECRET))) {
            String message = failure(behindTheProxy(scheme));
            assertTrue(message.contains("the proxy answers 407"), message);
            assertTrue(message.contains(scheme + ".proxyUser"), message);
            assertEquals(1, proxy.requests().size());
        }
    }

    /** Java would ask for another twenty times. */
    @ParameterizedTest
    @ValueSource(strings = {"http", "https"})
    void of_proxyWithWrongPassword_isToldItOnce(String scheme) throws IOException {
        try (TestProxy proxy = new TestProxy(Optional.of("me:" + SECRET))) {
            System.setProperty(scheme + ".proxyUser", "me");
            System.setProperty(scheme + ".proxyPassword", "no-secret");
            String message = failure(behindTheProxy(scheme));
            assertTrue(message.contains("the proxy answers 407"), message);
            assertEquals(2, proxy.requests().size());
        }
    }
}
