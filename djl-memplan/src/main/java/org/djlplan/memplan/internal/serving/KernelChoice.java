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
import org.djlplan.memplan.internal.planning.budget.KeptKernels;
import org.djlplan.memplan.internal.planning.budget.KernelTrials;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.BudgetedKernels.Chosen;
import org.djlplan.memplan.internal.serving.BudgetedKernels.Setting;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The choice of the operators of one streamed model that a delegate runs. They are selected by
 * measured times of CPU kernels, then tried; they are used only if outputs agree, the delegate's
 * measured memory leaves room for the rest, and predictions are faster. The measurements are
 * stored.
 */
final class KernelChoice implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(KernelChoice.class);

    /** The second time it is known how far the prediction of its memory was off. */
    private static final int ATTEMPTS = 2;

    private final BudgetedInterpreter cpu;
    private final BudgetedKernels kernels;
    private final Setting setting;
    private final KernelRuns runs;
    private final Set<Integer> delegable;
    private final KeptKernels kept;

    /**
     * @param cpu in CPU kernels
     * @throws IOException if the model cannot be read, or was changed since the copy was found
     * @throws UnplannableException if the delegate cannot look at it
     */
    KernelChoice(BudgetedInterpreter cpu, BudgetedKernels kernels, Setting setting)
            throws IOException, UnplannableException {
        this.cpu = cpu;
        this.kernels = kernels;
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
                            ImmutableMap.of(
                                    "delegate", kernels.delegate(),
                                    "threads", Integer.toString(setting.threads()),
                                    "io", setting.io().name()),
                            kernels.cacheFolder());
        } catch (UnplannableException | RuntimeException | Error e) {
            runs.close();
            throw e;
        }
    }

    /** A source of a choice. */
    @FunctionalInterface
    private interface Source {

        Optional<Chosen> chosen() throws IOException, UnplannableException, BudgetTooSmallException;
    }

    /**
     * Returns an interpreter with the best set of earlier trials. No prediction may run meanwhile.
     *
     * @return empty if no stored trial fits
     */
    Optional<Chosen> kept() throws IOException, UnplannableException, BudgetTooSmallException {
        Optional<KernelTrials> before = kept.load();
        return before.isPresent() ? known(best(before.get())) : Optional.empty();
    }

    /**
     * Returns an interpreter that is faster than the CPU kernels: with the best stored set for at
     * least as many bytes; if there is none, with the best set of new trials; if that is not
     * faster, with the best stored set for fewer bytes.
     */
    Optional<Chosen> best() throws IOException, UnplannableException, BudgetTooSmallException {
        // What was measured before leads to the same selection as before.
        KernelTrials before = kept.load().orElse(new KernelTrials(cpu.costs(), List.of()));
        Optional<Trial> known = best(before);
        Optional<Trial> forAll = known.filter(each -> each.forBytes() >= setting.bytes());
        List<Source> sources =
                forAll.isPresent()
                        ? List.of(() -> known(forAll))
                        : List.of(() -> measured(before), () -> knownForAll(known));
        for (Source source : sources) {
            Optional<Chosen> chosen = source.chosen();
            if (chosen.isPresent()) {
                return chosen.map(each -> new Chosen(each.interpreter(), setting.bytes()));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the fastest trial within the setting's bytes. If none was measured with so many, it
     * is the one that is predicted to be fastest.
     */
    private Optional<Trial> best(KernelTrials of) throws BudgetTooSmallException {
        List<Trial> good =
                of.trials().stream()
                        .filter(each -> each.isFaster() && each.isRight(kernels.tolerance()))
                        .toList();
        Optional<Trial> fastest =
                good.stream()
                        .filter(each -> each.forBytes() <= setting.bytes())
                        .min(Comparator.comparingLong(Trial::nanos));
        if (fastest.isPresent() || good.isEmpty()) {
            return fastest;
        }
        KernelPlanner planner = planner(of.costs());
        List<Selection> selections =
                good.stream().map(each -> planner.measured(each.steps(), each.bytes())).toList();
        return planner.best(selections, setting.bytes(), cpu.planned(of.costs(), setting.bytes()))
                .map(best -> good.get(selections.indexOf(best)));
    }

    private KernelPlanner planner(StepCosts costs) {
        return new KernelPlanner(cpu.graph(), costs, delegable, new StreamingPlanner());
    }

    /** Opens a set that was tried before. */
    private Optional<Chosen> known(Optional<Trial> trial) throws IOException, UnplannableException {
        if (trial.isEmpty()) {
            return Optional.empty();
        }
        Trial known = trial.get();
        try {
            Selection selected = planner(cpu.costs()).measured(known.steps(), known.bytes());
            return Optional.of(new Chosen(runs.known(selected, known), known.forBytes()));
        } catch (BudgetTooSmallException e) {
            logger.debug("{}: what was selected before does not fit", name(), e);
            return Optional.empty();
        }
    }

    /** Opens the best set for fewer bytes, if no set is better with more memory. */
    private Optional<Chosen> knownForAll(Optional<Trial> trial)
            throws IOException, UnplannableException {
        Optional<Chosen> chosen = known(trial);
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
                break;
            }
            Optional<Trial> tried = before.of(selected.get().steps());
            if (tried.isPresent()) {
                logger.debug("{}: was tried before: {}", name(), tried.get());
                break;
            }
            KernelRuns.Result result = runs.tried(selected.get());
            // Slower it may have been for anything that goes on beside.
            result.trial()
                    .filter(each -> each.isFaster() || !each.isRight(kernels.tolerance()))
                    .ifPresent(each -> kept.add(cpu.costs(), each));
            if (result.interpreter().isPresent()) {
                return result.interpreter().map(each -> new Chosen(each, setting.bytes()));
            }
            if (result.moreBytes() == 0) {
                break;
            }
            leftBytes = setting.bytes() - Math.max(result.moreBytes(), setting.bytes() / 16);
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
