package org.djlplan.memplan.internal.rewrite;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.candidates.CpuOutputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.runtime.Buffers;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter.RefusedException;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * Runs stock and the recipes of a TorchScript model in this process. Each candidate loads the model
 * again, so that its memory is measured apart from the others'.
 */
public final class RecipeTrials implements CandidateRunner {

    /** The second prediction of a shape compiles; later ones are as fast as all others. */
    private static final int WARM_UPS = 3;

    /** Loading a model's weights into the caches once takes at most a few milliseconds. */
    private static final long SLOW_NANOS = 50_000_000;

    private final Path file;
    private final String identity;
    private final SampledRequests requests;
    private final Tolerance tolerance;
    private final ModuleRewriter rewriter;
    private final ProcessMemory memory = new ProcessMemory();
    private final Map<Candidate, Prepared> prepared = new HashMap<>();

    /** At the measured shapes, then at further shapes that stock accepts; empty until needed. */
    private Optional<Reference> reference = Optional.empty();

    /** For all known requests, by which lower precisions are judged; empty until needed. */
    private Optional<Reference> ofRequests = Optional.empty();

    /** Why no recipe may serve; empty if one may, or it is not known yet. */
    private Optional<String> problem = Optional.empty();

    private record Prepared(Running running, Trial trial) {}

    /**
     * Outputs of stock.
     *
     * @param inputs of its runs
     * @param forms the names, types and shapes of the outputs, by input
     */
    private record Reference(
            List<SampleInputs> inputs, CpuOutputs outputs, List<List<TensorInfo>> forms) {}

    /** A loaded model. */
    private record Running(Model model, Block block, ParameterStore parameters)
            implements AutoCloseable {
        @Override
        public void close() {
            model.close();
        }
    }

    private RecipeTrials(
            Path file,
            String identity,
            SampledRequests requests,
            Tolerance tolerance,
            ModuleRewriter rewriter) {
        this.file = file;
        this.identity = identity;
        this.requests = requests;
        this.tolerance = tolerance;
        this.rewriter = rewriter;
    }

    /**
     * Opens a model. The engine's number of threads must be set before.
     *
     * @param file a TorchScript file
     * @param identity of the file that was loaded, as {@link FileIdentity#text}
     * @param tolerance for the outputs
     * @throws IOException if the file was replaced or changed since
     * @throws UnsupportedPlatformException if modules cannot be rewritten with this libtorch
     */
    public static RecipeTrials open(
            Path file, String identity, SampledRequests requests, Tolerance tolerance)
            throws IOException, UnsupportedPlatformException {
        requireLoaded(file, identity);
        NDManager.newBaseManager(Device.cpu(), "PyTorch").close();
        return new RecipeTrials(file, identity, requests, tolerance, ModuleRewriter.open());
    }

    private static void requireLoaded(Path file, String identity) throws IOException {
        if (!FileIdentity.text(file).equals(identity)) {
            throw new IOException(file + " was replaced or changed since it was loaded");
        }
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        Prepared known = prepared.get(candidate);
        if (known != null) {
            return known.trial();
        }
        try {
            if (reference.isEmpty()) {
                learn();
            }
            if (!candidate.isStock() && problem.isPresent()) {
                throw new CandidateException(Kind.REFUSED, problem.get());
            }
            Reference expected =
                    tolerance.isLower(candidate) ? ofRequests() : reference.orElseThrow();
            long before = liveBytes();
            Running running = build(candidate);
            try {
                Trial trial = firstRuns(running, candidate.isStock(), expected, before);
                prepared.put(candidate, new Prepared(running, trial));
                return trial;
            } finally {
                if (!prepared.containsKey(candidate)) {
                    running.close();
                }
            }
        } catch (ReflectiveOperationException
                | RefusedException
                | UnplannableException
                | RuntimeException e) {
            throw refused(e);
        }
    }

    private static CandidateException refused(Exception e) {
        String reason = String.valueOf(e.getMessage()).strip().lines().findFirst().orElse("");
        return new CandidateException(Kind.REFUSED, reason.isEmpty() ? e.toString() : reason);
    }

    /** Computes the reference outputs with stock, and decides whether recipes may serve. */
    private void learn() throws ReflectiveOperationException, UnplannableException {
        try (Running stock = load()) {
            problem = Eligibility.problem(rewriter, TorchScriptBlock.of(stock.block()));
            List<SampleInputs> all = new ArrayList<>();
            requests.measured().forEach(each -> all.add(each.inputs()));
            SampleInputs first = all.get(0);
            Stream.of(first.ofOtherBatch(), first.ofOtherLength(), first.ofOneImage())
                    .flatMap(Optional::stream)
                    .filter(inputs -> accepts(stock, inputs))
                    .forEach(all::add);
            Reference learnt = learn(stock, all, tolerance);
            reference = Optional.of(learnt);
            if (problem.isEmpty() && !isSame(stock, learnt)) {
                problem = Optional.of("two predictions of stock give different outputs");
            }
        }
    }

    private Reference learn(Running stock, List<SampleInputs> inputs, Tolerance accepted)
            throws UnplannableException {
        CpuOutputs outputs =
                new CpuOutputs(
                        inputs.get(0).graph(),
                        inputs.stream().map(SampleInputs::values).toList(),
                        accepted);
        int unused = outputs.learn((values, i) -> run(stock, inputs.get(i), values), 1);
        return new Reference(
                ImmutableList.copyOf(inputs),
                outputs,
                inputs.stream().map(each -> forms(run(stock, each, each.values()))).toList());
    }

    /** Returns the outputs of stock for all known requests. */
    private Reference ofRequests() throws UnplannableException, CandidateException {
        int known = requests.compared().size();
        if (known < SampledRequests.LEAST_COMPARED) {
            throw new CandidateException(
                    Kind.REFUSED,
                    "its outputs are compared for at least %d predictions, and the inputs of %d are known"
                            .formatted(SampledRequests.LEAST_COMPARED, known));
        }
        if (ofRequests.isEmpty()) {
            try (Running stock = load()) {
                ofRequests =
                        Optional.of(
                                learn(
                                        stock,
                                        requests.compared(),
                                        tolerance.precision().tolerance()));
            }
        }
        return ofRequests.get();
    }

    private boolean accepts(Running stock, SampleInputs inputs) {
        try {
            List<OutputTensor> unused = run(stock, inputs, inputs.values());
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    private boolean isSame(Running stock, Reference learnt) throws UnplannableException {
        List<List<OutputTensor>> again = outputs(stock, learnt);
        return again.size() == learnt.inputs().size()
                && learnt.outputs().errors(again).stream().allMatch(tolerance::admits);
    }

    private List<List<OutputTensor>> outputs(Running running, Reference expected)
            throws UnplannableException {
        return expected.outputs()
                .outputs((values, i) -> run(running, expected.inputs().get(i), values));
    }

    private Running load() throws UnplannableException {
        String name = file.getFileName().toString();
        Model model = Model.newInstance(name, Device.cpu(), "PyTorch");
        try {
            model.load(
                    file.getParent(), name.endsWith(".pt") ? name.replaceAll("\\.pt$", "") : name);
            requireLoaded(file, identity);
            return new Running(
                    model, model.getBlock(), new ParameterStore(model.getNDManager(), false));
        } catch (IOException | MalformedModelException e) {
            model.close();
            throw new UnplannableException(UnplannableException.reason(e));
        } catch (RuntimeException e) {
            model.close();
            throw e;
        }
    }

    private Running build(Candidate candidate)
            throws UnplannableException, ReflectiveOperationException, RefusedException {
        Running stock = load();
        if (candidate.isStock()) {
            return stock;
        }
        try {
            Recipe recipe =
                    Recipe.named(candidate.recipe())
                            .orElseThrow(() -> new IllegalArgumentException(candidate.recipe()));
            TorchScriptBlock original = TorchScriptBlock.of(stock.block());
            TorchScriptBlock rewritten = original.rewritten(rewriter, recipe);
            original.exchange(rewritten);
            rewritten.close();
            stock.block().getParameters().values().forEach(Parameter::close);
            return stock;
        } catch (ReflectiveOperationException | RefusedException | RuntimeException e) {
            stock.close();
            throw e;
        }
    }

    private Trial firstRuns(Running running, boolean stock, Reference expected, long bytesBefore)
            throws UnplannableException, InterruptedException {
        for (int i = 0; i < WARM_UPS; i++) {
            for (Frequent each : requests.measured()) {
                long unused = time(running, each.inputs());
            }
        }
        long grown = Math.max(0, liveBytes() - bytesBefore);
        if (stock) {
            return new Trial(0, expected.outputs().errors(List.of()), grown, WARM_UPS);
        }
        List<List<OutputTensor>> own = outputs(running, expected);
        for (int i = 0; i < own.size(); i++) {
            if (!forms(own.get(i)).equals(expected.forms().get(i))) {
                throw new IllegalStateException("its outputs have other types or shapes");
            }
        }
        List<OutputError> errors =
                expected.outputs().judge(own, () -> new Stock(load(), expected.inputs()));
        return new Trial(0, errors, grown, WARM_UPS * requests.measured().size() + own.size());
    }

    private static List<TensorInfo> forms(List<OutputTensor> outputs) {
        return outputs.stream().map(OutputTensor::info).toList();
    }

    /** Stock, which runs with other values of the inputs. */
    private record Stock(Running running, List<SampleInputs> inputs)
            implements CpuOutputs.Interpreter {

        @Override
        public List<OutputTensor> of(List<ByteBuffer> values, int input) {
            return run(running, inputs.get(input), values);
        }

        @Override
        public void close() {
            running.close();
        }
    }

    private long liveBytes() {
        ProcessMemory.trim();
        return memory.anonymousBytes().orElse(0);
    }

    private static List<OutputTensor> run(
            Running running, SampleInputs inputs, List<ByteBuffer> values) {
        try (NDManager manager = running.model().getNDManager().newSubManager()) {
            NDList outputs = forward(running, inputs.create(manager, values));
            ImmutableList.Builder<OutputTensor> copies = ImmutableList.builder();
            for (NDArray output : outputs) {
                copies.add(copy(output));
            }
            return copies.build();
        }
    }

    private static OutputTensor copy(NDArray output) {
        ByteBuffer copy = Buffers.copy(output.toByteBuffer());
        return new OutputTensor(
                new TensorInfo(
                        output.getName() == null ? "" : output.getName(),
                        SampleInputs.elementType(
                                output.getDataType().name().toLowerCase(Locale.ROOT)),
                        Ints.asList(Ints.toArray(shape(output))),
                        copy.remaining()),
                copy);
    }

    private static List<Long> shape(NDArray array) {
        return Longs.asList(array.getShape().getShape());
    }

    private static NDList forward(Running running, NDList inputs) {
        return running.block().forward(running.parameters(), inputs, false);
    }

    private long time(Running running, SampleInputs inputs) {
        try (NDManager manager = running.model().getNDManager().newSubManager()) {
            // New arrays, because a model may write to its inputs.
            NDList arrays = inputs.create(manager);
            long start = System.nanoTime();
            NDList unused = forward(running, arrays);
            return System.nanoTime() - start;
        }
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        Running running = running(candidate);
        long[] nanos = new long[inferences];
        try {
            for (Frequent each : requests.measured()) {
                long first = time(running, each.inputs());
                for (int i = 0; i < inferences; i++) {
                    long took = i == 0 && first > SLOW_NANOS ? first : time(running, each.inputs());
                    nanos[i] += Math.round(took * weight(each));
                }
            }
            return nanos;
        } catch (RuntimeException e) {
            release(candidate);
            throw refused(e);
        }
    }

    /** Returns the fraction of predictions with the same shapes. */
    private double weight(Frequent inputs) {
        return (double) inputs.predictions()
                / requests.measured().stream().mapToLong(Frequent::predictions).sum();
    }

    @Override
    public long[] timeEachShape(Candidate candidate)
            throws CandidateException, InterruptedException {
        Running running = running(candidate);
        try {
            return requests.measured().stream()
                    .mapToLong(
                            each -> {
                                long first = time(running, each.inputs());
                                return first > SLOW_NANOS ? first : time(running, each.inputs());
                            })
                    .toArray();
        } catch (RuntimeException e) {
            release(candidate);
            throw refused(e);
        }
    }

    private Running running(Candidate candidate) throws CandidateException, InterruptedException {
        Trial unused = prepare(candidate);
        return prepared.get(candidate).running();
    }

    @Override
    public void release(Candidate candidate) {
        Prepared gone = prepared.remove(candidate);
        if (gone != null) {
            gone.running().close();
        }
    }

    @Override
    public void close() {
        List.copyOf(prepared.keySet()).forEach(this::release);
        rewriter.close();
    }
}
