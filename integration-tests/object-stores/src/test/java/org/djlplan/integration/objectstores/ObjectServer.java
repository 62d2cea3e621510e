package org.djlplan.integration.objectstores;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStoreContext;

/**
 * A server of S3's protocol, which checks signatures, holds objects in memory, and does not answer
 * when that is wanted.
 *
 * <p>It is S3Proxy, behind a door that lets one request through at a time: S3Proxy looks whether an
 * object is there, and writes it then, so that of eight that put it at once with {@code
 * If-None-Match: *} several succeeded in every third round. S3 itself does both in one step.
 */
final class ObjectServer implements AutoCloseable {

    static final String BUCKET = "fleet";
    static final String KEY = "machine";
    static final String SECRET = "secret-of-a-machine";

    /** They are of a connection. */
    private static final Set<String> NOT_PASSED_ON =
            Set.of("connection", "content-length", "expect", "transfer-encoding", "upgrade");

    private final BlobStoreContext objects;
    private final S3Proxy storage;
    private final HttpServer door;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ReentrantLock oneByOne = new ReentrantLock(true);
    private final CountDownLatch end = new CountDownLatch(1);
    private final HttpClient inside =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final BlockingQueue<String> written = new LinkedBlockingQueue<>();

    private volatile Fault fault = Fault.NONE;

    /** What it does wrong. */
    enum Fault {
        NONE,
        /** Nothing is done, and nothing said. */
        SILENT,
        /** What is asked is done, but not answered. */
        LOSES_ANSWERS
    }

    ObjectServer() throws Exception {
        objects =
                ContextBuilder.newBuilder("transient-nio2")
                        .credentials(KEY, SECRET)
                        .build(BlobStoreContext.class);
        objects.getBlobStore().createContainerInLocation(null, BUCKET);
        storage =
                S3Proxy.builder()
                        .blobStore(objects.getBlobStore())
                        .endpoint(URI.create("http://127.0.0.1:0"))
                        .ignoreUnknownHeaders(true)
                        .awsAuthentication(AuthenticationType.AWS_V4, KEY, SECRET)
                        .build();
        storage.start();
        door = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        door.setExecutor(threads);
        door.createContext("/", this::handle);
        door.start();
    }

    String endpoint() {
        return "http://127.0.0.1:" + door.getAddress().getPort();
    }

    void set(Fault wanted) {
        fault = wanted;
    }

    /** Waits until somebody writes an object, and returns its path. */
    String awaitWritten(String end) throws InterruptedException {
        String path = written.take();
        while (!path.endsWith(end)) {
            path = written.take();
        }
        return path;
    }

    private void handle(HttpExchange exchange) throws IOException {
        Fault now = fault;
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (now == Fault.SILENT) {
                end.await();
                return;
            }
            HttpResponse<byte[]> answer = passedOn(exchange, body);
            if (exchange.getRequestMethod().equals("PUT") && answer.statusCode() == 200) {
                written.add(exchange.getRequestURI().getPath());
            }
            if (now == Fault.LOSES_ANSWERS) {
                return;
            }
            answer.headers()
                    .map()
                    .forEach(
                            (name, values) -> {
                                if (!NOT_PASSED_ON.contains(name)) {
                                    exchange.getResponseHeaders().put(name, values);
                                }
                            });
            int length = answer.body().length;
            exchange.sendResponseHeaders(answer.statusCode(), length == 0 ? -1 : length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(answer.body());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private HttpResponse<byte[]> passedOn(HttpExchange exchange, byte[] body)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + storage.getPort() + exchange.getRequestURI());
        HttpRequest.Builder request =
                HttpRequest.newBuilder(uri)
                        .method(
                                exchange.getRequestMethod(),
                                HttpRequest.BodyPublishers.ofByteArray(body));
        exchange.getRequestHeaders()
                .forEach(
                        (name, values) -> {
                            if (!NOT_PASSED_ON.contains(name.toLowerCase(Locale.ROOT))) {
                                values.forEach(value -> request.header(name, value));
                            }
                        });
        oneByOne.lockInterruptibly();
        try {
            return inside.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        } finally {
            oneByOne.unlock();
        }
    }

    @Override
    public void close() {
        end.countDown();
        door.stop(0);
        threads.shutdownNow();
        try {
            storage.stop();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        objects.close();
    }
}
