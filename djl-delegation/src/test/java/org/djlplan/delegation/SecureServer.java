package org.djlplan.delegation;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * An HTTPS server whose certificate it signed itself: of {@code localhost}, and of {@link
 * TestProxy#HOST}. Until it is closed this JVM trusts it, and nobody else, if it is to.
 */
final class SecureServer implements AutoCloseable {

    private static final char[] PASSWORD = "password".toCharArray();

    /** Of this JVM: making one takes a second. */
    private static Optional<byte[]> made = Optional.empty();

    private final SSLSocketFactory before = HttpsURLConnection.getDefaultSSLSocketFactory();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final SSLContext context;
    private final HttpsServer server;

    /**
     * Starts it; it answers nothing yet.
     *
     * @param folder for its key, until that is made
     */
    SecureServer(Path folder) throws Exception {
        context = context(key(folder));
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.setExecutor(threads);
        server.start();
    }

    private static synchronized byte[] key(Path folder) throws IOException, InterruptedException {
        if (made.isPresent()) {
            return made.get();
        }
        Path file = folder.resolve("server.p12");
        Process keytool =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "keytool")
                                        .toString(),
                                "-genkeypair",
                                "-keyalg",
                                "EC",
                                "-dname",
                                "CN=localhost",
                                "-ext",
                                "SAN=dns:localhost,dns:" + TestProxy.HOST,
                                "-validity",
                                "2",
                                "-storetype",
                                "PKCS12",
                                "-keystore",
                                file.toString(),
                                "-storepass",
                                new String(PASSWORD))
                        .redirectErrorStream(true)
                        .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IOException(said);
        }
        byte[] key = Files.readAllBytes(file);
        made = Optional.of(key);
        return key;
    }

    private static SSLContext context(byte[] key) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(new ByteArrayInputStream(key), PASSWORD);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        String alias = keys.aliases().nextElement();
        trusted.setCertificateEntry(alias, keys.getCertificate(alias));
        KeyManagerFactory own =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        TrustManagerFactory others =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        others.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), others.getTrustManagers(), null);
        return context;
    }

    /** Has this JVM trust it. */
    void trust() {
        HttpsURLConnection.setDefaultSSLSocketFactory(context.getSocketFactory());
    }

    HttpsServer server() {
        return server;
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        HttpsURLConnection.setDefaultSSLSocketFactory(before);
        server.stop(0);
        threads.shutdownNow();
    }
}
