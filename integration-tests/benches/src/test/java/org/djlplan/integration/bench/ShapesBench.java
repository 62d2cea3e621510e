package org.djlplan.integration.bench;

import java.nio.file.Path;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * PyTorch models whose inputs change shape with nearly every request, stock and planned. {@code
 * -Ddjlplan.bench.case=minilm/zipf} runs only the cases whose names begin with {@code minilm/zipf},
 * {@code -Ddjlplan.bench.requests=N} sends N requests. {@code
 * integration-tests/torchscript_models.py NAME} makes a model.
 */
@Tag("bench")
class ShapesBench {

    @TempDir private Path folder;

    private void print(Turns turns, String model, String inputs, int callers, int requests)
            throws Exception {
        int sent = Integer.getInteger("djlplan.bench.requests", requests);
        String name = model + "/" + inputs.replaceFirst(".*/", "") + "/" + callers;
        if (Turns.isChosen(name)) {
            turns.compare(
                    name,
                    Cases.stockAndPlanned(
                            "callers=" + callers,
                            "requests=" + sent,
                            "file=" + turns.copy(RealModels.TORCHSCRIPT.file(model)),
                            "inputs=" + inputs));
        }
    }

    private void print(String model, String kind, int requests) throws Exception {
        try (Turns turns = new Turns(folder, 3)) {
            for (String distribution : new String[] {"log_normal", "zipf", "uniform"}) {
                for (int callers : new int[] {1, 2, 8, 64}) {
                    print(turns, model, kind + "/" + distribution, callers, requests);
                }
            }
        }
    }

    @Test
    void printSentenceEncoder() throws Exception {
        print("minilm", "text", 800);
    }

    @Test
    void printTinyEncoder() throws Exception {
        print("tiny_text", "text", 3000);
    }

    @Test
    void printLargeEncoder() throws Exception {
        print("bert_text", "text", 100);
    }

    @Test
    void printReader() throws Exception {
        print("ocr", "line", 1000);
    }

    @Test
    void printImages() throws Exception {
        print("resnet50", "image", 150);
    }

    /** Generates sequences of 256 tokens each, one or several at once. A request is a token. */
    @Test
    void printGeneration() throws Exception {
        try (Turns turns = new Turns(folder, 3)) {
            print(turns, "decoder", "decoder", 1, 2048);
            print(turns, "decoder", "decoder", 4, 2048);
        }
    }

    /** Sends a new shape with each request, to measure the cost of a first-seen shape. */
    @Test
    void printFirstSeenShapes() throws Exception {
        try (Turns turns = new Turns(folder, 3)) {
            print(turns, "minilm", "text/even", 1, 500);
            print(turns, "tiny_text", "text/even", 1, 2000);
            print(turns, "bert_text", "text/even", 1, 60);
            print(turns, "ocr", "line/even", 1, 600);
            print(turns, "resnet50", "batch/even", 1, 100);
        }
    }

    /** Sends more and more requests of 2,000 shapes, to show whether memory grows with them. */
    @Test
    void printLongRun() throws Exception {
        try (Turns turns = new Turns(folder, 1)) {
            for (int requests = 2_500; requests <= 20_000; requests *= 2) {
                print(turns, "tiny_text", "text/even", 2, requests);
            }
        }
    }
}
