package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WorkerProcessTest {

    private final List<String> news = new ArrayList<>();
    private final WorkerProcess.Errors errors = new WorkerProcess.Errors(news::add);

    @Test
    void accept_nativeNewsAndCrashes_areNotForUsers() {
        errors.accept("INFO: Created TensorFlow Lite XNNPACK delegate for CPU.");
        errors.accept("# A fatal error has been detected by the Java Runtime Environment:");
        errors.accept("");
        errors.accept("ERROR: Regular TensorFlow ops are not supported");
        errors.accept("[main] WARN a.B - something");
        assertEquals(
                List.of(
                        "ERROR: Regular TensorFlow ops are not supported",
                        "[main] WARN a.B - something"),
                errors.lines());
    }

    @Test
    void accept_manyLines_keepsTheLast() {
        IntStream.range(0, 20).forEach(i -> errors.accept("line " + i));
        assertEquals(8, errors.lines().size());
        assertEquals("line 19", errors.lines().get(7));
    }

    @Test
    void accept_news_isToldAtOnceAndNotStored() {
        errors.accept(MeasuringNews.PREFIX + "it is measured first");
        assertEquals(List.of("it is measured first"), news);
        assertEquals(List.of(), errors.lines());
    }
}
