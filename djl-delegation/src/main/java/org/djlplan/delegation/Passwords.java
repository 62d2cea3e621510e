package org.djlplan.delegation;

import com.google.common.annotations.VisibleForTesting;
import java.io.IOException;
import java.net.Authenticator;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.PasswordAuthentication;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * Who one is to servers and proxies. To the server of a URL, and to no other, the user and the
 * password that are in it; to the proxy that {@code https.proxyHost} names, {@code https.proxyUser}
 * and {@code https.proxyPassword} (so with {@code http}); else what {@link
 * Authenticator#setDefault} says.
 *
 * <p>No connection has a URL with a password: Java would send it to a proxy as it is.
 */
final class Passwords {

    private final URI given;

    /**
     * @param given may have a user and a password
     */
    Passwords(URI given) {
        this.given = given;
    }

    /** Returns a connection to the server of the URL or to one that it led to. */
    HttpURLConnection open(URI uri) throws IOException {
        String bare =
                uri.getRawUserInfo() == null
                        ? uri.toString()
                        : uri.toString().replace(uri.getRawUserInfo() + "@", "");
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(bare).toURL().openConnection();
        connection.setAuthenticator(new Asked());
        if (given.getUserInfo() != null && isTheSameServer(uri)) {
            String named = given.getUserInfo();
            byte[] both =
                    (named.contains(":") ? named : named + ":").getBytes(StandardCharsets.UTF_8);
            connection.setRequestProperty(
                    "Authorization", "Basic " + Base64.getEncoder().encodeToString(both));
        }
        return connection;
    }

    @VisibleForTesting
    boolean isTheSameServer(URI uri) throws MalformedURLException {
        return given.getScheme().equalsIgnoreCase(uri.getScheme())
                && given.getHost().equalsIgnoreCase(uri.getHost())
                && port(given) == port(uri);
    }

    private static int port(URI uri) throws MalformedURLException {
        return uri.getPort() < 0 ? uri.toURL().getDefaultPort() : uri.getPort();
    }

    /** Returns what an answer means that is neither a file nor the way to one. */
    static String explained(int code, URI uri) {
        return switch (code) {
            case HttpURLConnection.HTTP_UNAUTHORIZED ->
                    "the server answers 401: it wants a user and a password, in the URL or of"
                            + " java.net.Authenticator";
            case HttpURLConnection.HTTP_PROXY_AUTH ->
                    "the proxy answers 407: it wants a user and a password, %1$s.proxyUser and %1$s.proxyPassword or of java.net.Authenticator"
                                    .formatted(uri.getScheme())
                            + (uri.getScheme().equalsIgnoreCase("https")
                                    ? "; Java tells them for https only with"
                                            + " -Djdk.http.auth.tunneling.disabledSchemes="
                                    : "");
            default -> "the server answers " + code;
        };
    }

    /** Tells each once: Java asks again, twenty times, if that was wrong. */
    private static final class Asked extends Authenticator {

        private boolean server;
        private boolean proxy;

        @Override
        protected PasswordAuthentication getPasswordAuthentication() {
            boolean ofProxy = getRequestorType() == RequestorType.PROXY;
            if (ofProxy ? proxy : server) {
                return null;
            }
            proxy |= ofProxy;
            server |= !ofProxy;
            return ofProxy ? ofProxy().orElseGet(this::ofApplication) : ofApplication();
        }

        private Optional<PasswordAuthentication> ofProxy() {
            String scheme = getRequestingURL().getProtocol();
            String user = System.getProperty(scheme + ".proxyUser");
            if (user == null
                    || !getRequestingHost()
                            .equalsIgnoreCase(System.getProperty(scheme + ".proxyHost"))) {
                return Optional.empty();
            }
            String password = System.getProperty(scheme + ".proxyPassword", "");
            return Optional.of(new PasswordAuthentication(user, password.toCharArray()));
        }

        /** Null if it has none. */
        private PasswordAuthentication ofApplication() {
            return Authenticator.requestPasswordAuthentication(
                    getRequestingHost(),
                    getRequestingSite(),
                    getRequestingPort(),
                    getRequestingProtocol(),
                    getRequestingPrompt(),
                    getRequestingScheme(),
                    getRequestingURL(),
                    getRequestorType());
        }
    }
}
