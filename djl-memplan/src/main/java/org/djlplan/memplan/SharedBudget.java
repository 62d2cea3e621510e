package org.djlplan.memplan;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.djl.BudgetDivision;
import org.djlplan.memplan.internal.djl.SharedModels;
import org.djlplan.memplan.internal.report.Megabytes;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.internal.thread.Pause;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * One budget in bytes for several models, such as all models of an executor, a container or a
 * process. Models get shares in proportion to the sizes of their weights, but at least their
 * minimum. When a model is loaded, the other models shrink first; soon after a model is closed, the
 * others get its share.
 *
 * <pre>{@code
 * static final SharedBudget BUDGET = SharedBudget.of("256MB");
 * try (ZooModel<Image, DetectedObjects> detector = BUDGET.load(detectorCriteria);
 *         ZooModel<Image, Classifications> classifier = BUDGET.load(classifierCriteria)) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Without code: {@code memplan.sharedBudget} is one budget for all models that {@link
 * PlannedModels#acquire} loads in this JVM.
 *
 * <p>The minimum of a PyTorch model is known only after a prediction; with {@code
 * memplan.warmup=true} the model predicts while it is loaded. Thread-safe.
 */
public final class SharedBudget {

    /** Applications close models one after another. */
    private static final Duration QUIET = Duration.ofMillis(200);

    /** The budget of {@code memplan.sharedBudget}, with the size set by the first of its models. */
    private static final SharedBudget OF_PROCESS = of(Long.MAX_VALUE);

    /** Changes only while there are no members; guarded by this. */
    private volatile long bytes;

    private final BudgetDivision<Member> division = new BudgetDivision<>();

    /** Others get the share of a closed model, unless further models are closed or loaded first. */
    private final Pause spreading = new Pause(QUIET, this::beginToSpread);

    /** A loaded model. */
    private record Member(Model model, PlanHandle plan) implements BudgetDivision.Member {

        @Override
        public boolean takesPart() {
            return model.getNDManager().isOpen() && plan.hasBudget();
        }

        @Override
        public Optional<BudgetReport> report() {
            return plan.report().budget();
        }

        @Override
        public void setBudget(long bytes) throws BudgetTooSmallException {
            plan.setBudget(bytes);
        }
    }

    private SharedBudget(long bytes) {
        checkArgument(bytes > 0, "a budget of %s bytes", bytes);
        this.bytes = bytes;
    }

    /**
     * Returns a budget for models that it loads.
     *
     * @param bytes memory that all of them together may take in addition to the idle runtime's
     */
    public static SharedBudget of(long bytes) {
        return new SharedBudget(bytes);
    }

    /**
     * The same with a text.
     *
     * @param size such as {@code 256MB}
     * @throws IllegalArgumentException if the size is malformed
     */
    public static SharedBudget of(String size) {
        if (Budget.of(size).orElse(null) instanceof Budget.Bytes given) {
            return of(given.bytes());
        }
        throw new IllegalArgumentException("\"" + size + "\" is no size such as 256MB");
    }

    /**
     * Returns a view of the model of a key, in the budget for all models of this process if its
     * options set one. A new size of that budget takes effect only if no models are in use.
     *
     * @param terms options that are compared with those of an existing model
     * @throws IllegalArgumentException if models with another shared size are in use
     */
    static <I, O> ZooModel<I, O> getInProcess(
            SharedModels models, String key, Criteria<I, O> criteria, Map<String, Object> terms)
            throws IOException, ModelException {
        OptionalLong size =
                criteria.getTranslatorFactory() instanceof PlannedTranslatorFactory planned
                        ? planned.sharedBudgetBytes()
                        : OptionalLong.empty();
        if (size.isEmpty()) {
            return models.get(key, criteria, terms, Criteria::loadModel);
        }
        if (OF_PROCESS.bytes != size.getAsLong()) {
            // Idle models that wait for another request.
            boolean unused = models.closeUnused(OF_PROCESS::has);
            OF_PROCESS.resize(size.getAsLong());
        }
        terms.put(OptionKey.SHARED_BUDGET.key(), size.getAsLong());
        return OF_PROCESS.get(models, key, criteria, terms, size.getAsLong());
    }

    /** Returns a view of the model of a key; unused models are closed to make room. */
    <I, O> ZooModel<I, O> get(
            SharedModels models, String key, Criteria<I, O> criteria, Map<String, Object> terms)
            throws IOException, ModelException {
        terms.put(SharedBudget.class.getSimpleName(), this);
        return get(models, key, criteria, terms, bytes);
    }

    private <I, O> ZooModel<I, O> get(
            SharedModels models,
            String key,
            Criteria<I, O> criteria,
            Map<String, Object> terms,
            long size)
            throws IOException, ModelException {
        // A model that is there does not wait for others to be loaded.
        Optional<ZooModel<I, O>> present = models.find(key, criteria, terms);
        if (present.isPresent()) {
            return present.get();
        }
        try {
            return loaded(models, key, criteria, terms, size);
        } catch (IOException | ModelException e) {
            if (refusal(e).isEmpty() || !models.closeUnused(this::has)) {
                throw e;
            }
            return loaded(models, key, criteria, terms, size);
        }
    }

    /**
     * Locks the budget before the key, because a translator factory that acquires another model
     * does so with the budget locked.
     */
    private synchronized <I, O> ZooModel<I, O> loaded(
            SharedModels models,
            String key,
            Criteria<I, O> criteria,
            Map<String, Object> terms,
            long size)
            throws IOException, ModelException {
        return models.get(
                key,
                criteria,
                terms,
                wanted -> {
                    resize(size);
                    return load(wanted);
                });
    }

    private boolean has(Model model) {
        return division.members().stream().anyMatch(member -> member.model() == model);
    }

    private synchronized void resize(long size) {
        if (size == bytes) {
            return;
        }
        List<String> users =
                division.members().stream()
                        .map(Member::model)
                        .filter(model -> model.getNDManager().isOpen())
                        .map(Model::getName)
                        .toList();
        if (!users.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s=%d: %s share %d bytes; another size counts when they are closed"
                            .formatted(OptionKey.SHARED_BUDGET.key(), size, users, bytes));
        }
        bytes = size;
    }

    /** Returns the limit of all models together, in bytes. */
    public long bytes() {
        return bytes;
    }

    /**
     * Loads a model in the budget. Close it like any other model.
     *
     * @param criteria with a {@link PlannedTranslatorFactory}; a budget in its options is ignored
     * @throws ModelException as {@link Criteria#loadModel()}; also if the others cannot make enough
     *     room, with the cause {@link BudgetTooSmallException}: the others then keep their shares
     * @throws IOException as {@link Criteria#loadModel()}
     * @throws IllegalArgumentException if the criteria have no planned factory
     */
    public synchronized <I, O> ZooModel<I, O> load(Criteria<I, O> criteria)
            throws IOException, ModelException {
        TranslatorFactory factory = criteria.getTranslatorFactory();
        if (!(factory instanceof PlannedTranslatorFactory planned)) {
            throw new IllegalArgumentException(
                    "a budget needs a " + PlannedTranslatorFactory.class.getSimpleName());
        }
        boolean loaded = false;
        try {
            ZooModel<I, O> model = loadBesideOthers(criteria, planned);
            loaded = true;
            return model;
        } finally {
            if (!loaded) {
                division.spread(bytes);
            }
        }
    }

    private <I, O> ZooModel<I, O> loadBesideOthers(
            Criteria<I, O> criteria, PlannedTranslatorFactory factory)
            throws IOException, ModelException {
        // Its need is not known yet, so an equal share is assumed.
        long room = roomOf(bytes / (division.members().size() + 1));
        while (true) {
            try {
                return load(criteria, factory, room);
            } catch (IOException | ModelException e) {
                Optional<BudgetTooSmallException> refusal = refusal(e);
                if (refusal.isEmpty() || refusal.get().leastBytes() <= room) {
                    throw e;
                }
                room = refusal.get().leastBytes();
                if (roomOf(room) < room) {
                    throw new MalformedModelException(
                            "no room in a shared budget of %s with %d models%s: %s"
                                    .formatted(
                                            Megabytes.of(bytes),
                                            division.members().size(),
                                            division.problem()
                                                    .map(why -> " (" + why + ")")
                                                    .orElse(""),
                                            refusal.get().getMessage()),
                            refusal.get());
                }
            }
        }
    }

    /**
     * Shrinks the other models, and returns the resulting room: at most the wanted size, at least
     * 1.
     */
    private long roomOf(long wanted) {
        long room = wanted;
        while (room > 1) {
            try {
                division.shrinkTo(bytes - room);
                return room;
            } catch (BudgetTooSmallException e) {
                // Less than before, because the models need more than the part.
                room = bytes - e.leastBytes();
            }
        }
        return 1;
    }

    private static Optional<BudgetTooSmallException> refusal(Exception problem) {
        return Throwables.getCausalChain(problem).stream()
                .filter(BudgetTooSmallException.class::isInstance)
                .map(BudgetTooSmallException.class::cast)
                .findFirst();
    }

    /** Loads a model in the part of the budget that others leave. */
    private <I, O> ZooModel<I, O> load(
            Criteria<I, O> criteria, PlannedTranslatorFactory factory, long part)
            throws IOException, ModelException {
        ZooModel<I, O> model =
                criteria.toBuilder()
                        .optTranslatorFactory(factory.with(OptionKey.BUDGET.key(), part + "B"))
                        .build()
                        .loadModel();
        boolean entered = false;
        try {
            enter(model.getWrappedModel());
            entered = true;
            return model;
        } finally {
            if (!entered) {
                // Removes it from the budget, too.
                model.close();
            }
        }
    }

    /** Adds a model that was loaded in a part of the budget, until it is closed. */
    private void enter(Model model) throws MalformedModelException {
        PlanHandle plan = PlanHandle.of(model).orElseThrow(() -> stock(model));
        BudgetReport report = plan.report().budget().orElseThrow(() -> stock(model));
        Member member = new Member(model, plan);
        division.add(member, report);
        model.getNDManager().attachInternal(UUID.randomUUID().toString(), leaving(member));
        division.spread(bytes);
    }

    private static MalformedModelException stock(Model model) {
        return new MalformedModelException(
                model.getName() + " runs as stock, which knows no budget");
    }

    /** The thread that closes a model does not wait until others have its share. */
    private AutoCloseable leaving(Member member) {
        return () -> {
            division.remove(member);
            if (!division.members().isEmpty()) {
                spreading.await();
            }
        };
    }

    private void beginToSpread() {
        boolean unused = Later.start(this::spreadAll);
    }

    private synchronized void spreadAll() {
        division.spread(bytes);
    }
}
