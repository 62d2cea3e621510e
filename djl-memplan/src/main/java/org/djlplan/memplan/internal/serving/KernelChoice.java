package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.KernelPlanner;
import org.djlplan.memplan.internal.budget.KernelSelection.Selection;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.budget.StreamingPlanner;
import org.djlplan.memplan.internal.planning.KeptKernels;
import org.djlplan.memplan.internal.planning.KernelTrials;
import org.djlplan.memplan.internal.planning.KernelTrials.Faster;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.BudgetedKernels.Chosen;
import org.djlplan.memplan.internal.serving.BudgetedKernels.Setting;
import org.djlplan.memplan.internal.serving.KernelRuns.Result;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses which operators of one streamed model a delegate runs. It selects operators by measured
 * times of CPU kernels, then tries them. They are used only if outputs agree, the delegate's
 * measured memory leaves room for the rest, and predictions are faster. The measurements are
 * stored.
 */
final class KernelChoice implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(KernelChoice.class);

    /** The second attempt knows the error of the first one's memory prediction. */
    private static final int ATTEMPTS = 2;

    private final BudgetedInterpreter cpu;
    private final Setting setting;
    private final KernelRuns runs;
    private final Set<Integer> delegable;
    private final KeptKernels kept;

    /**
     * @param cpu in CPU kernels
     * @throws IOException if the model cannot be read, or was changed since the copy was found
     * @throws UnplannableException if the delegate cannot examine it
     */
    KernelChoice(BudgetedInterpreter cpu, BudgetedKernels kernels, Setting setting)
            throws IOException, UnplannableException {
        this.cpu = cpu;
        this.setting = setting;
        runs = new KernelRuns(cpu, kernels, setting);
        try {
            delegable = runs.delegable();
            kept =
                    new KeptKernels(
                            cpu.copy(),
                            cpu.graph().graph(),
                            delegable,
                            kernels.tolerance(),
                            setting.threads(),
                            ImmutableMap.of(
                                    "delegate", kernels.delegate(), "io", setting.io().name()),
                            kernels.cacheFolder());
        } catch (UnplannableException | RuntimeException | Error e) {
            runs.close();
            throw e;
        }
    }

    /**
     * Returns an interpreter with the best set of earlier trials. No prediction may run meanwhile.
     *
     * @return empty if no stored trial fits
     */
    Optional<Chosen> kept() throws IOException, UnplannableException, BudgetTooSmallException {
        Optional<KernelTrials> before = kept.load();
        return before.isPresent() ? kept(best(before.get())) : Optional.empty();
    }

    /**
     * Returns an interpreter that is faster than the CPU kernels: with the best set stored for at
     * least the setting's bytes, else the best set of new trials, else the best set stored for
     * fewer bytes.
     */
    Optional<Chosen> best() throws IOException, UnplannableException, BudgetTooSmallException {
        // Stored measurements lead to the same selection as before.
        KernelTrials before = kept.load().orElse(new KernelTrials(cpu.costs()));
        Optional<Faster> best = best(before);
        boolean isForAll = best.filter(each -> each.forBytes() >= setting.bytes()).isPresent();
        Optional<Chosen> chosen = isForAll ? kept(best) : Optional.empty();
        if (chosen.isEmpty()) {
            chosen = measured(before);
        }
        if (chosen.isEmpty() && !isForAll) {
            chosen = keptForAll(best);
        }
        return chosen.map(each -> new Chosen(each.interpreter(), setting.bytes()));
    }

    /**
     * Returns the fastest trial that was measured with at most the setting's bytes; if there is
     * none, the trial that is predicted to be fastest.
     */
    private Optional<Faster> best(KernelTrials of) throws BudgetTooSmallException {
        Optional<Faster> fastest =
                of.faster().stream()
                        .filter(each -> each.forBytes() <= setting.bytes())
                        .min(Comparator.comparingLong(e -> e.entry().latency().medianNanos()));
        if (fastest.isPresent() || of.faster().isEmpty()) {
            return fastest;
        }
        KernelPlanner planner = planner(of.costs());
        List<Selection> selections =
                of.faster().stream().map(each -> selection(planner, each)).toList();
        return planner.best(selections, setting.bytes(), cpu.planned(of.costs(), setting.bytes()))
                .map(best -> of.faster().get(selections.indexOf(best)));
    }

    private KernelPlanner planner(StepCosts costs) {
        return new KernelPlanner(cpu.graph(), costs, delegable, new StreamingPlanner());
    }

    private static Selection selection(KernelPlanner planner, Faster trial) {
        return planner.measured(trial.steps(), trial.entry().memoryBytes());
    }

    /** Opens the set of an earlier trial. */
    private Optional<Chosen> kept(Optional<Faster> trial) throws IOException, UnplannableException {
        if (trial.isEmpty()) {
            return Optional.empty();
        }
        Faster found = trial.get();
        try {
            Selection selected = selection(planner(cpu.costs()), found);
            return Optional.of(
                    new Chosen(runs.known(selected, found.cpuNanos()), found.forBytes()));
        } catch (BudgetTooSmallException e) {
            logger.debug("{}: what was selected before does not fit", name(), e);
            return Optional.empty();
        }
    }

    /** Opens the best set for fewer bytes, if no set is better with more memory. */
    private Optional<Chosen> keptForAll(Optional<Faster> trial)
            throws IOException, UnplannableException {
        Optional<Chosen> chosen = kept(trial);
        if (chosen.isPresent()) {
            kept.add(cpu.costs(), trial.orElseThrow().selectedFor(setting.bytes()));
        }
        return chosen;
    }

    /** Selects and tries. */
    private Optional<Chosen> measured(KernelTrials before)
            throws IOException, UnplannableException, BudgetTooSmallException {
        KernelPlanner planner = planner(before.costs());
        StreamingPlan cpuPlan = cpu.planned(before.costs(), setting.bytes());
        long cpuBytes = setting.alone() ? 0 : cpu.leastArenaBytes();
        long leftBytes = setting.bytes();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Optional<Selection> selected = planner.best(leftBytes, leftBytes - cpuBytes, cpuPlan);
            if (selected.isEmpty()) {
                logger.info("{}: no operators gain by a delegate in its budget", name());
                return Optional.empty();
            }
            if (before.tried(selected.get().steps())) {
                logger.debug("{}: {} was tried before", name(), selected.get());
                return Optional.empty();
            }
            Result result = runs.tried(selected.get());
            if (result instanceof Result.Served served) {
                kept.add(cpu.costs(), served.trial());
                return Optional.of(new Chosen(served.interpreter(), setting.bytes()));
            }
            if (result instanceof Result.Refused refused) {
                kept.add(cpu.costs(), refused.entry());
            }
            if (!(result instanceof Result.TooLarge large)) {
                return Optional.empty();
            }
            leftBytes = setting.bytes() - Math.max(large.moreBytes(), setting.bytes() / 16);
        }
        return Optional.empty();
    }

    private String name() {
        return cpu.model().graph().name();
    }

    @Override
    public void close() {
        runs.close();
    }
}
