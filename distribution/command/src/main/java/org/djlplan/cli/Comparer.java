package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.util.Progress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.djlplan.cli.Comparison.Variant;
import org.djlplan.cli.OutputDifference.Limit;
import org.djlplan.cli.OutputDifference.Written;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.thirdparty.guava.base.Suppliers;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Maps;
import org.djlplan.thirdparty.guava.io.ByteStreams;
import org.djlplan.thirdparty.guava.io.Closer;

/**
 * Runs a model as stock, in other modes, and as stock with other allocators or another DJL, each in
 * a separate process. One-time work – loading, outputs, warm-up – is done in one process at a time;
 * then all processes are timed in turns, so that other load on the machine affects all of them.
 *
 * <p>If the model may be delegated or rewritten and no result is stored, another process measures
 * first.
 */
final class Comparer {

    private final PrintWriter messages;
    private final Set<String> told = new HashSet<>();
    private final Optional<RunWatch> watch;

    /**
     * @param messages receives the lines that processes write to their error streams, each line
     *     once
     * @param watch receives every latency of the only repetition
     */
    Comparer(PrintWriter messages, Optional<RunWatch> watch) {
        this.messages = messages;
        this.watch = watch;
    }

    /**
     * A process that is ready to be timed.
     *
     * @param outputs its outputs
     * @param figures requested once, after the process was timed
     */
    private record Ready(
            String name, WorkerProcess worker, Written outputs, Supplier<RunFigures> figures) {}

    /**
     * Compares.
     *
     * @param extent number of repetitions, and the configurations to compare with
     * @throws Failure if one of the runs fails
     */
    Comparison compare(RunOptions options, Extent extent) throws IOException {
        ImmutableList<WorkerProcess.Contestant> others = others(extent);
        if (options.model() instanceof ModelRef.OfFile file) {
            readThrough(file.readable());
        }
        if (extent.modes().contains(RunMode.DELEGATED)) {
            measure(options.measuring());
        }
        List<Comparison> runs = new ArrayList<>();
        for (int i = 0; i < extent.fresh(); i++) {
            runs.add(compareOnce(options, extent, others));
        }
        return Comparison.median(runs);
    }

    /** Measures delegation until the result is stored, which later processes use. */
    private void measure(RunOptions options) {
        WorkerProcess.Contestant measuring = WorkerProcess.Contestant.MEASURING;
        try (WorkerProcess worker = WorkerProcess.start(measuring, options, messages::println)) {
            worker.awaitLoaded();
            if (options.engine() == EngineKind.PYTORCH) {
                // The first prediction measures, because its inputs are needed; for a lower
                // precision those of several.
                long[] unused = worker.time(SampledRequests.LEAST_COMPARED);
            }
            worker.finish();
            tell(measuring.name(), worker);
        }
    }

    private ImmutableList<WorkerProcess.Contestant> others(Extent extent) {
        ImmutableList.Builder<WorkerProcess.Contestant> others = ImmutableList.builder();
        for (Rival rival : extent.against()) {
            rival.contestant()
                    .ifPresentOrElse(
                            others::add,
                            () ->
                                    messages.println(
                                            rival.name() + " is not available here and left out"));
        }
        return others.build();
    }

    private Comparison compareOnce(
            RunOptions options, Extent extent, List<WorkerProcess.Contestant> others)
            throws IOException {
        try (Closer closer = Closer.create()) {
            Path folder = closer.register(ScratchFolder.create("djlplan-compare")).path();
            Ready stock =
                    ready(WorkerProcess.Contestant.of(RunMode.STOCK), options, folder, closer);
            List<Ready> all = new ArrayList<>(List.of(stock));
            for (RunMode mode : extent.modes()) {
                all.add(ready(WorkerProcess.Contestant.of(mode), options, folder, closer));
            }
            for (WorkerProcess.Contestant other : others) {
                all.add(ready(other, options, folder, closer));
            }
            watch.ifPresent(each -> each.begin(Maps.transformValues(byName(all), Ready::worker)));
            time(options.effort().iterations(), extent.rounds(), all);
            watch.ifPresent(RunWatch::end);
            ImmutableMap.Builder<String, Optional<Variant>> against = ImmutableMap.builder();
            for (Rival rival : extent.against()) {
                Optional<Ready> ready =
                        all.stream().filter(each -> each.name().equals(rival.name())).findFirst();
                against.put(
                        rival.name(),
                        ready.isEmpty()
                                ? Optional.empty()
                                : Optional.of(other(stock, ready.get())));
            }
            ReferenceOutputs reference = new ReferenceOutputs(options, folder, stock.outputs());
            List<Variant> variants = variants(options, extent, reference, all);
            if (!variants.stream().allMatch(Variant::agrees) && reference.check()) {
                variants = variants(options, extent, reference, all);
            }
            Comparison comparison =
                    new Comparison(
                            stock.figures().get(),
                            reference.lost(),
                            variants,
                            against.buildOrThrow(),
                            ImmutableList.of());
            all.forEach(ready -> tell(ready.name(), ready.worker()));
            return comparison;
        }
    }

    private static Variant other(Ready stock, Ready ready) throws IOException {
        return new Variant(
                RunMode.STOCK,
                ready.figures().get(),
                OutputDifference.between(stock.outputs(), ready.outputs()),
                List.of(Limit.IDENTICAL),
                List.of());
    }

    /**
     * @param all stock, then each variant in order
     */
    private static List<Variant> variants(
            RunOptions options, Extent extent, ReferenceOutputs reference, List<Ready> all)
            throws IOException {
        List<Variant> variants = new ArrayList<>();
        Limit tolerance = new Limit(extent.tolerance(), 0);
        Limit least = Limit.ROUNDING.or(options.limit()).or(tolerance);
        List<String> types = reference.types();
        for (RunMode mode : extent.modes()) {
            Ready ready = all.get(1 + variants.size());
            RunFigures figures = ready.figures().get();
            List<Limit> limits =
                    figures.delegation()
                            .map(report -> DelegationFacts.limits(report, types, least))
                            .orElse(List.of(tolerance));
            OutputDifference outputs = reference.difference(ready.outputs());
            variants.add(new Variant(mode, figures, outputs, limits, types));
        }
        return variants;
    }

    private Ready ready(
            WorkerProcess.Contestant contestant, RunOptions options, Path folder, Closer closer) {
        WorkerProcess worker = WorkerProcess.start(contestant, options, messages::println);
        closer.register(worker::close);
        worker.awaitLoaded();
        Written outputs = worker.writeOutputs(folder.resolve(contestant.name()));
        worker.warmUp();
        return new Ready(
                contestant.name(),
                worker,
                outputs,
                Suppliers.memoize(worker::figuresWithStockArena));
    }

    private static ImmutableMap<String, Ready> byName(List<Ready> all) {
        return Maps.uniqueIndex(all, Ready::name);
    }

    /**
     * Times all processes in turns.
     *
     * @param iterations of each process, in all rounds together
     */
    private void time(int iterations, int rounds, List<Ready> all) {
        Optional<Progress> line = ProgressLine.ifWatched(messages);
        line.ifPresent(each -> each.reset("Timing", (long) rounds * all.size()));
        line.ifPresent(each -> each.start(0));
        try {
            for (int round = 0; round < rounds; round++) {
                // Differences of rounded products add up to exactly the number of iterations.
                long next = (long) iterations * (round + 1) / rounds;
                int count = Math.toIntExact(next - (long) iterations * round / rounds);
                for (int i = 0; i < all.size(); i++) {
                    if (count > 0) {
                        // The first participant alternates, because it may find the machine in
                        // another state.
                        time(all.get((i + round) % all.size()), count);
                    }
                    line.ifPresent(each -> each.increment(1));
                }
            }
        } finally {
            line.ifPresent(Progress::end);
        }
    }

    private void time(Ready ready, int count) {
        long[] nanos = ready.worker().time(count);
        watch.ifPresent(each -> each.timed(ready.name(), nanos));
    }

    private void tell(String name, WorkerProcess worker) {
        worker.lastErrorLines().stream()
                .filter(told::add)
                .map(line -> name + ": " + line)
                .forEach(messages::println);
        messages.flush();
    }

    /** Reads the model's file into the page cache, so that all loads find it there. */
    private static void readThrough(Path model) throws IOException {
        try (InputStream in = Files.newInputStream(model)) {
            ByteStreams.copy(in, OutputStream.nullOutputStream());
        }
    }

    /**
     * Settings of a comparison.
     *
     * @param rounds number of turns that the timed predictions are spread over, at least 1
     * @param fresh number of repetitions with new processes, at least 1
     * @param against configurations in which the stock engine runs in addition, in this order
     * @param modes in which the model runs besides stock, in this order; at least one
     * @param tolerance relative difference from stock's outputs that is accepted, even if a mode
     *     promises a smaller one
     */
    record Extent(int rounds, int fresh, Set<Rival> against, Set<RunMode> modes, double tolerance) {

        Extent {
            checkArgument(rounds >= 1, "--rounds must be at least 1, not %s", rounds);
            checkArgument(fresh >= 1, "--fresh must be at least 1, not %s", fresh);
            checkArgument(tolerance >= 0, "--tolerance must not be negative: %s", tolerance);
            checkArgument(
                    !modes.isEmpty() && !modes.contains(RunMode.STOCK),
                    "ways besides stock: %s",
                    modes);
            List<String> names = against.stream().map(Rival::name).toList();
            checkArgument(
                    Set.copyOf(names).size() == names.size(),
                    "--against: give each name once, not %s",
                    names);
            against = ImmutableSet.copyOf(against);
            modes = ImmutableSet.copyOf(modes);
        }
    }
}
