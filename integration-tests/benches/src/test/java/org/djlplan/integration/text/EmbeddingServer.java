package org.djlplan.integration.text;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.djlplan.integration.torch.Torch;

/**
 * A web server that answers a posted text with its embedding, with a thread for each connection.
 */
final class EmbeddingServer implements AutoCloseable {

    private final ZooModel<String, float[]> model;
    private final ExecutorService threads;
    private final HttpServer server;

    EmbeddingServer(ZooModel<String, float[]> model, int connections) throws IOException {
        this.model = model;
        threads = Executors.newFixedThreadPool(connections);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/embed", this::embed);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private void embed(HttpExchange exchange) throws IOException {
        Torch.threads(1);
        try (exchange) {
            String text =
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            byte[] answer = embedding(text).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    private String embedding(String text) throws IOException {
        try (Predictor<String, float[]> predictor = model.newPredictor()) {
            return Arrays.toString(predictor.predict(text));
        } catch (TranslateException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
    }
}
