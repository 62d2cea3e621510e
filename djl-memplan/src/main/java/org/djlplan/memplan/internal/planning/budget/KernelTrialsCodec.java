package org.djlplan.memplan.internal.planning.budget;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.primitives.ImmutableLongArray;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.SortedSet;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.KernelSelection;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.budget.KeptKernels.Request;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.OutputErrorJson;
import org.djlplan.memplan.spi.OutputError;

/**
 * Reads and writes measurements of kernels in files. The format, shown on several lines but written
 * on one:
 *
 * <pre>{@code
 * {"nanos":[1000,52000],"bytesPerNano":"2.5","nanosPerLoad":20000,"trials":[
 *   {"steps":[1],"forBytes":4000000,"bytes":3100000,"nanos":31000,"cpuNanos":53000,
 *    "errors":[{"type":"FLOAT32",…}]}]}
 * }</pre>
 */
final class KernelTrialsCodec implements Codec<KernelTrials> {

    static final int MOST_TRIALS = 8;

    private static final int MOST_STEPS = 1 << 16;
    private static final int MOST_OUTPUTS = 1 << 10;

    /** Two weeks; sums of smaller numbers do not overflow. */
    private static final long MOST_NANOS = 1L << 50;

    private final Request request;

    KernelTrialsCodec(Request request) {
        this.request = request;
    }

    @Override
    public String kind() {
        return "kernels";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".kernels.json";
    }

    @Override
    public void write(JsonWriter json, KernelTrials value) throws IOException {
        StepCosts costs = value.costs();
        json.beginObject();
        numbers(json.name("nanos"), ImmutableLongArray.copyOf(costs.computeNanos()).asList());
        json.name("bytesPerNano").value(Double.toString(costs.loadBytesPerNano()));
        json.name("nanosPerLoad").value(costs.nanosPerLoad());
        json.name("trials").beginArray();
        for (Trial trial : value.trials()) {
            numbers(json.beginObject().name("steps"), trial.steps());
            json.name("forBytes").value(trial.forBytes());
            json.name("bytes").value(trial.bytes());
            json.name("nanos").value(trial.nanos());
            json.name("cpuNanos").value(trial.cpuNanos());
            json.name("errors").beginArray();
            for (OutputError error : trial.errors()) {
                OutputErrorJson.write(json, error);
            }
            json.endArray().endObject();
        }
        json.endArray().endObject();
    }

    private static void numbers(JsonWriter json, Iterable<? extends Number> numbers)
            throws IOException {
        json.beginArray();
        for (Number number : numbers) {
            json.value(number);
        }
        json.endArray();
    }

    @Override
    public KernelTrials read(CheckedJson json) throws IOException {
        json.beginObject();
        long[] nanos = json.expect("nanos").numbers(MOST_STEPS).toArray();
        double bytesPerNano = Double.parseDouble(json.expect("bytesPerNano").nextString());
        long nanosPerLoad = json.expect("nanosPerLoad").nextLong();
        List<Trial> trials = json.expect("trials").list(MOST_TRIALS, () -> trial(json));
        json.endObject();
        return new KernelTrials(new StepCosts(nanos, bytesPerNano, nanosPerLoad), trials);
    }

    private static Trial trial(CheckedJson json) throws IOException {
        json.beginObject();
        Trial trial =
                new Trial(
                        steps(json.expect("steps").numbers(MOST_STEPS)),
                        json.expect("forBytes").nextLong(),
                        json.expect("bytes").nextLong(),
                        json.expect("nanos").nextLong(),
                        json.expect("cpuNanos").nextLong(),
                        json.expect("errors").list(MOST_OUTPUTS, () -> OutputErrorJson.read(json)));
        json.endObject();
        return trial;
    }

    private static SortedSet<Integer> steps(ImmutableLongArray numbers) {
        return numbers.stream()
                .mapToObj(Math::toIntExact)
                .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
    }

    @Override
    public void check(KernelTrials value) throws IOException {
        check(value.costs());
        Graph graph = request.graph();
        List<ElementType> outputs =
                graph.outputs().stream().map(id -> graph.tensors().get(id).type()).toList();
        KernelSelection selection =
                new KernelSelection(graph, new long[graph.operators().size()], request.delegable());
        for (Trial trial : value.trials()) {
            if (!request.delegable().containsAll(trial.steps())) {
                throw new IOException("steps that the delegate does not run");
            }
            if (trial.bytes() < selection.selection(trial.steps()).weightBytes()) {
                throw new IOException("a delegate of " + trial.bytes() + " bytes");
            }
            if (trial.cpuNanos() > MOST_NANOS) {
                throw new IOException("a prediction of " + trial.cpuNanos() + " ns");
            }
            if (!outputs.equals(trial.errors().stream().map(OutputError::type).toList())) {
                throw new IOException("errors of other outputs");
            }
        }
    }

    private void check(StepCosts costs) throws IOException {
        if (costs.steps() != request.graph().operators().size()) {
            throw new IOException("the costs of " + costs.steps() + " steps");
        }
        for (long nanos : costs.computeNanos()) {
            if (nanos < 0 || nanos > MOST_NANOS / costs.steps()) {
                throw new IOException("a step of " + nanos + " ns");
            }
        }
        if (!Double.isFinite(costs.loadBytesPerNano())
                || costs.loadBytesPerNano() < 1e-9
                || costs.nanosPerLoad() < 0
                || costs.nanosPerLoad() > MOST_NANOS) {
            throw new IOException("loads that never end");
        }
    }
}
