package org.djlplan.delegation;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A proxy for HTTP and HTTPS, which this JVM uses as {@code java.net} says until it is closed. It
 * alone knows {@link #HOST}, which is this machine.
 */
final class TestProxy implements AutoCloseable {

    /** No host of this name can be looked up. */
    static final String HOST = "tables.invalid";

    private static final List<String> PROPERTIES =
            List.of("http.proxyHost", "http.proxyPort", "https.proxyHost", "https.proxyPort");

    private static final List<String> PASSWORDS =
            List.of(
                    "http.proxyUser",
                    "http.proxyPassword",
                    "https.proxyUser",
                    "https.proxyPassword");

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ServerSocket socket;
    private final Optional<String> wanted;

    /** For everybody. */
    TestProxy() throws IOException {
        this(Optional.empty());
    }

    /**
     * @param password that it wants, after the user and a colon; empty if it wants none
     */
    TestProxy(Optional<String> password) throws IOException {
        wanted =
                password.map(
                        text ->
                                "proxy-authorization: basic "
                                        + Base64.getEncoder().encodeToString(bytes(text)));
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        threads.execute(this::accept);
        for (String property : PROPERTIES) {
            System.setProperty(
                    property,
                    property.endsWith("Host")
                            ? "localhost"
                            : Integer.toString(socket.getLocalPort()));
        }
    }

    /** Returns the first lines of what it was asked. */
    List<String> requests() {
        return requests;
    }

    /** Serves no more, and is still the one that is used. */
    void stop() throws IOException {
        socket.close();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                sockets.add(client);
                threads.execute(() -> serve(client));
            } catch (IOException e) {
                // It is closed.
                return;
            }
        }
    }

    private void serve(Socket client) {
        try {
            InputStream in = client.getInputStream();
            String line = line(in);
            requests.add(line);
            List<String> header = new ArrayList<>();
            for (String next = line(in); !next.isEmpty(); next = line(in)) {
                header.add(next);
            }
            if (!wanted.map(text -> header.stream().anyMatch(text::equalsIgnoreCase))
                    .orElse(true)) {
                client.getOutputStream()
                        .write(
                                bytes(
                                        "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
                                                + "Content-Length: 0\r\nConnection: close\r\n\r\n"));
                close(client);
                return;
            }
            String[] words = line.split(" ", -1);
            boolean tunnel = words[0].equals("CONNECT");
            URI uri = URI.create(tunnel ? "https://" + words[1] : words[1]);
            if (!uri.getHost().equals(HOST)) {
                throw new IOException(uri.getHost());
            }
            Socket server = new Socket(InetAddress.getLoopbackAddress(), uri.getPort());
            sockets.add(server);
            if (tunnel) {
                client.getOutputStream().write(bytes("HTTP/1.1 200 OK\r\n\r\n"));
            } else {
                header.add(0, "GET " + uri.getRawPath() + " HTTP/1.1");
                server.getOutputStream().write(bytes(String.join("\r\n", header) + "\r\n\r\n"));
            }
            threads.execute(() -> copy(server, client));
            copy(client, server);
        } catch (IOException e) {
            close(client);
        }
    }

    private static void copy(Socket from, Socket to) {
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            in.transferTo(out);
        } catch (IOException e) {
            // One of them has closed it.
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("no request");
            }
            line.append((char) next);
        }
        return line.toString().strip();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no use any more.
        }
    }

    @Override
    public void close() throws IOException {
        PROPERTIES.forEach(System::clearProperty);
        PASSWORDS.forEach(System::clearProperty);
        socket.close();
        sockets.forEach(TestProxy::close);
        threads.shutdownNow();
    }
}
