package org.djlplan.memplan.internal.djl;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Translator;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.collect.MapMaker;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Models that are loaded once for all users. A user holds a view of the model; the model is closed
 * some time after its last view was closed or garbage-collected.
 *
 * <p>Only the views of a model reference its translator and its types. So an application's class
 * loader can be garbage-collected together with the application's views, even if a static field of
 * one of its classes holds a view. There is one exception: a model with a block of the
 * application's own class retains the class loader until it is closed, so its views must be closed.
 */
public final class SharedModels {

    private static final Logger logger = LoggerFactory.getLogger(SharedModels.class);

    private static final Cleaner CLEANER = Cleaner.create();

    /** Models of different class loaders are separate, even with equal names. */
    private final Map<ClassLoader, Map<String, Shared>> models =
            new MapMaker().weakKeys().makeMap();

    private final Duration grace;

    /**
     * @param grace how long an unused model is kept, because tasks follow each other
     */
    public SharedModels(Duration grace) {
        this.grace = grace;
    }

    /** Loads a model that is not loaded yet. */
    @FunctionalInterface
    public interface Loader<I, O> {

        /** Loads a model according to the criteria. */
        ZooModel<I, O> load(Criteria<I, O> criteria) throws IOException, ModelException;
    }

    /**
     * Returns a view of the model of a key and the thread's context class loader; loads the model
     * if necessary. Closing the view releases the model. Other callers wait while the model is
     * loaded; if loading fails, the next caller tries again.
     *
     * @throws IllegalArgumentException if the key's model has other types
     */
    public <I, O> ZooModel<I, O> get(String key, Criteria<I, O> criteria)
            throws IOException, ModelException {
        return get(key, criteria, Map.of(), Criteria::loadModel);
    }

    /**
     * The same with another loader and with terms.
     *
     * @param terms options for comparison with an existing model: an unused model that was loaded
     *     with other terms is closed and loaded again
     * @throws IllegalArgumentException if the key's model has other types, or is in use with other
     *     terms
     */
    public <I, O> ZooModel<I, O> get(
            String key, Criteria<I, O> criteria, Map<String, ?> terms, Loader<I, O> loader)
            throws IOException, ModelException {
        Map<String, Shared> ofLoader =
                models.computeIfAbsent(context(), of -> new ConcurrentHashMap<>());
        Optional<ZooModel<I, O>> view = Optional.empty();
        while (view.isEmpty()) {
            view =
                    ofLoader.computeIfAbsent(key, absent -> new Shared(absent, ofLoader))
                            .view(criteria, terms, loader);
        }
        return view.get();
    }

    /**
     * Returns a view of the model of a key if {@link #get} would not load one. Waits while another
     * caller loads it.
     *
     * @throws IllegalArgumentException as {@link #get}
     */
    public <I, O> Optional<ZooModel<I, O>> find(
            String key, Criteria<I, O> criteria, Map<String, ?> terms) {
        Shared shared = models.getOrDefault(context(), Map.of()).get(key);
        return shared == null ? Optional.empty() : shared.present(criteria, terms);
    }

    private static ClassLoader context() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? SharedModels.class.getClassLoader() : context;
    }

    /** Returns how many keys have a model. */
    @VisibleForTesting
    int keys() {
        return models.values().stream().mapToInt(Map::size).sum();
    }

    /** Closes the models of a class loader that have no views, without waiting. */
    public void closeUnused(ClassLoader context) {
        for (Shared each : models.getOrDefault(context, Map.of()).values()) {
            boolean unused = each.closeUnused(model -> true);
        }
    }

    /**
     * The same for selected models of any class loader. Returns whether a model was closed.
     *
     * @param some selects the models
     */
    public boolean closeUnused(Predicate<Model> some) {
        boolean closed = false;
        for (Map<String, Shared> ofLoader : models.values()) {
            for (Shared each : ofLoader.values()) {
                closed |= each.closeUnused(some);
            }
        }
        return closed;
    }

    /** The model of a key, which may be loaded, closed and loaded again. */
    private final class Shared {

        private final String key;
        private final Map<String, Shared> byKey;

        /** The users of the loaded model, or null. */
        private Users users;

        /** Whether another object has taken the key, or may take it. */
        private boolean ended;

        /**
         * @param byKey the map that has this object until it ends
         */
        Shared(String key, Map<String, Shared> byKey) {
            this.key = key;
            this.byKey = byKey;
        }

        /** Returns a view of the model; empty if this object has ended. */
        synchronized <I, O> Optional<ZooModel<I, O>> view(
                Criteria<I, O> criteria, Map<String, ?> terms, Loader<I, O> loader)
                throws IOException, ModelException {
            if (ended) {
                return Optional.empty();
            }
            try {
                return Optional.of(add(criteria, terms, loader));
            } finally {
                endIfUnused();
            }
        }

        /** Removes the key if there is no model. */
        void endIfUnused() {
            if (users == null) {
                ended = true;
                byKey.remove(key, this);
            }
        }

        private <I, O> ZooModel<I, O> add(
                Criteria<I, O> criteria, Map<String, ?> terms, Loader<I, O> loader)
                throws IOException, ModelException {
            Optional<ZooModel<I, O>> present = present(criteria, terms);
            if (present.isPresent()) {
                return present.get();
            }
            if (users != null && users.count == 0 && !users.terms.equals(terms)) {
                users.close();
            }
            ZooModel<I, O> loaded = loader.load(criteria);
            users = new Users(this, loaded, criteria, terms);
            logger.info("{} is loaded, for all who use {}", loaded.getName(), key);
            return users.add(loaded);
        }

        synchronized <I, O> Optional<ZooModel<I, O>> present(
                Criteria<I, O> criteria, Map<String, ?> terms) {
            if (users == null || (users.count == 0 && !users.terms.equals(terms))) {
                return Optional.empty();
            }
            ZooModel<?, ?> there = users.model.get();
            if (there == null || !there.getNDManager().isOpen()) {
                return Optional.empty();
            }
            if (!users.types.areOf(criteria)) {
                throw new IllegalArgumentException(
                        "the model of " + key + " translates " + users.types);
            }
            if (!users.terms.equals(terms)) {
                // The values are left out, because some may be secrets.
                throw new IllegalArgumentException(
                        "the model of "
                                + key
                                + " is used with other "
                                + users.keysOfOthers(terms)
                                + ", which count when it is closed; or give it another key");
            }
            @SuppressWarnings("unchecked") // it was loaded for these types
            ZooModel<I, O> same = (ZooModel<I, O>) there;
            return Optional.of(users.add(same));
        }

        synchronized boolean closeUnused(Predicate<Model> some) {
            boolean closes = users != null && users.count == 0 && some.test(users.inner);
            if (closes) {
                users.close();
                endIfUnused();
            }
            return closes;
        }
    }

    /** What a model translates; does not keep classes of an application alive. */
    private static final class Types {

        private final WeakReference<Class<?>> input;
        private final WeakReference<Class<?>> output;
        private final String names;

        Types(Criteria<?, ?> criteria) {
            input = new WeakReference<>(criteria.getInputClass());
            output = new WeakReference<>(criteria.getOutputClass());
            names = criteria.getInputClass() + " to " + criteria.getOutputClass();
        }

        boolean areOf(Criteria<?, ?> criteria) {
            return input.refersTo(criteria.getInputClass())
                    && output.refersTo(criteria.getOutputClass());
        }

        @Override
        public String toString() {
            return names;
        }
    }

    /** The users of one loaded model. Guarded by its {@link Shared}. */
    private final class Users {

        private final Shared of;
        private final Model inner;
        private final WeakReference<ZooModel<?, ?>> model;
        private final Types types;
        private final Map<String, ?> terms;
        private int count;
        private long lastNanos;

        /** An unused model that is kept for another user, or null. */
        @SuppressWarnings("unused")
        private ZooModel<?, ?> kept;

        Users(Shared of, ZooModel<?, ?> model, Criteria<?, ?> criteria, Map<String, ?> terms) {
            this.of = of;
            this.inner = model.getWrappedModel();
            this.model = new WeakReference<>(model);
            types = new Types(criteria);
            this.terms = terms;
        }

        Set<String> keysOfOthers(Map<String, ?> others) {
            return Sets.union(terms.keySet(), others.keySet()).stream()
                    .filter(each -> !Objects.equals(terms.get(each), others.get(each)))
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        <I, O> View<I, O> add(ZooModel<I, O> loaded) {
            count++;
            kept = null;
            return new View<>(loaded, this);
        }

        void remove() {
            synchronized (of) {
                count--;
                lastNanos = System.nanoTime();
                ZooModel<?, ?> unused = model.get();
                if (count > 0) {
                    return;
                }
                if (unused == null) {
                    close();
                    of.endIfUnused();
                } else {
                    closeLater(unused);
                }
            }
        }

        /** Keeps an unused model for another user for the grace period. */
        private void closeLater(ZooModel<?, ?> unused) {
            kept = unused;
            WeakReference<Users> these = new WeakReference<>(this);
            Later.run(grace, () -> Optional.ofNullable(these.get()).ifPresent(Users::beginToClose));
        }

        /** Closes on a thread of its own, because it may wait for a load and for predictions. */
        private void beginToClose() {
            if (!Later.start(this::closeIfUnused)) {
                closeIfUnused();
            }
        }

        private void closeIfUnused() {
            synchronized (of) {
                boolean usedSince = System.nanoTime() - lastNanos < grace.toNanos();
                if (count == 0 && of.users == this && !usedSince) {
                    logger.debug("nobody uses {}", inner.getName());
                    close();
                    of.endIfUnused();
                }
            }
        }

        private void close() {
            if (of.users == this) {
                of.users = null;
            }
            kept = null;
            inner.close();
        }
    }

    /** The view of one user. */
    private static final class View<I, O> extends ZooModel<I, O> {

        /** Keeps the model alive as long as this view or one of its predictors is in use. */
        @SuppressWarnings("unused")
        private final ZooModel<I, O> loaded;

        private final Cleaner.Cleanable end;

        View(ZooModel<I, O> loaded, Users users) {
            super(loaded.getWrappedModel(), loaded.getTranslator());
            this.loaded = loaded;
            end = CLEANER.register(this, users::remove);
        }

        /** A predictor of this view, because DJL's would keep only the wrapped model alive. */
        @Override
        public <P, Q> Predictor<P, Q> newPredictor(Translator<P, Q> translator, Device device) {
            return new Predictor<>(this, translator, device, false);
        }

        @Override
        public void close() {
            end.clean();
        }
    }
}
