package org.djlplan.delegation;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.djlplan.delegation.SharedTable.Look;
import org.djlplan.delegation.SharedTable.Pace;
import org.djlplan.delegation.store.ProfileStore;
import org.djlplan.delegation.store.SampleTables;
import org.djlplan.delegation.store.Wanted;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Goal.Objective;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.store.Lease;
import org.djlplan.memplan.store.StoreKey;

/**
 * Many machines of a few kinds, which share a store and load the same model, on a virtual clock.
 * What they decide is decided by the code that applications run: {@link SharedTable}, and the lease
 * and the tables in it. The store, the time that measuring takes, and what goes wrong are made up.
 */
final class SimulatedFleet {

    static final int KINDS = 3;

    private static final Pace PACE = Pace.of(Patience.DEFAULT.betweenMachines());

    /** Machines begin within this time. */
    private static final Duration SPREAD = Duration.ofSeconds(10);

    private static final Duration SHORTEST_MEASURING = Duration.ofSeconds(8);
    private static final Duration LONGEST_MEASURING = Duration.ofSeconds(30);
    private static final Duration GIVEN_UP = Duration.ofHours(2);

    private final VirtualClock clock = new VirtualClock();
    private final VirtualStore store = new VirtualStore();
    private final Random random;
    private final Troubles troubles;
    private final FakeModel model;
    private final Wanted wanted;
    private final Map<StoreKey, Kind> kinds = new LinkedHashMap<>();
    private int deathsLeft;

    /**
     * What goes wrong.
     *
     * @param deaths how many of the machines that measure die meanwhile
     * @param tornWrites whether half of an entry stays of what a dying machine writes
     * @param slow when the store takes longer than anybody waits, and writes what it was given up
     *     for
     * @param dead when the store does nothing
     */
    record Troubles(int deaths, boolean tornWrites, Outage slow, Outage dead) {
        static final Troubles NONE = new Troubles(0, false, Outage.NONE, Outage.NONE);
    }

    /** A time in which something is wrong. */
    record Outage(Duration from, Duration to) {
        static final Outage NONE = new Outage(Duration.ZERO, Duration.ZERO);

        boolean at(Duration time) {
            return time.compareTo(from) >= 0 && time.compareTo(to) < 0;
        }
    }

    /** What became of the machines of one kind. */
    static final class Kind {
        int machines;
        int begun;
        int completed;
        int died;
        int lost;
        int measuringNow;
        int measuringAtOnce;
        final Set<ProfileTable> choices = new HashSet<>();
        final List<Duration> chosenAfter = new ArrayList<>();
        Duration allChosen = Duration.ZERO;
    }

    /**
     * What became of the fleet.
     *
     * @param allChosen when the last machine had a choice
     * @param operations how often the store was asked in all
     * @param peakPerSecond most operations in one second
     */
    record Outcome(List<Kind> kinds, Duration allChosen, long operations, int peakPerSecond) {

        int begun() {
            return kinds.stream().mapToInt(kind -> kind.begun).sum();
        }

        int died() {
            return kinds.stream().mapToInt(kind -> kind.died).sum();
        }

        /** Returns when half of the machines had a choice. */
        Duration halfChosen() {
            List<Duration> all =
                    kinds.stream().flatMap(kind -> kind.chosenAfter.stream()).sorted().toList();
            return all.get(all.size() / 2);
        }
    }

    private SimulatedFleet(int machines, Troubles troubles, long seed, Path folder) {
        this.troubles = troubles;
        random = new Random(seed);
        deathsLeft = troubles.deaths();
        model = new FakeModel(folder);
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        wanted =
                new Wanted(model.graph(), List.of(2), goal, Tolerance.AUTO, Optional.empty())
                        .of(model.reported);
        List<StoreKey> keys = new ArrayList<>();
        for (int kind = 0; kind < KINDS; kind++) {
            keys.add(key(goal, kind));
            kinds.put(keys.get(kind), new Kind());
        }
        for (int machine = 0; machine < machines; machine++) {
            StoreKey key = keys.get(machine % KINDS);
            int number = machine;
            clock.begin(upTo(SPREAD), () -> live(key, number));
        }
    }

    private StoreKey key(Goal goal, int kind) {
        try {
            StoreKey here = ProfileStore.key(model, goal, List.of(2), Tolerance.AUTO);
            return new StoreKey(
                    here.model(),
                    ImmutableMap.<String, String>builder()
                            .putAll(here.facts())
                            .put("cpu", "kind " + kind)
                            .buildKeepingLast());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a fleet until every machine that lives has a choice. */
    static Outcome run(int machines, Troubles troubles, long seed, Path folder) {
        SimulatedFleet fleet = new SimulatedFleet(machines, troubles, seed, folder);
        fleet.clock.run();
        List<Kind> kinds = List.copyOf(fleet.kinds.values());
        return new Outcome(
                kinds,
                kinds.stream().map(kind -> kind.allChosen).max(Duration::compareTo).orElseThrow(),
                fleet.store.operations,
                fleet.store.inSecond.values().stream().max(Integer::compare).orElse(0));
    }

    private Duration upTo(Duration most) {
        return Duration.ofNanos((long) (random.nextDouble() * most.toNanos()));
    }

    /** The life of a machine: it ends when it has a choice, or dies. */
    private void live(StoreKey key, int number) {
        Kind kind = kinds.get(key);
        kind.machines++;
        SharedTable table =
                new SharedTable(
                        store,
                        each -> ProfileStore.shared(each, model, wanted),
                        key,
                        PACE,
                        clock,
                        new Random(random.nextLong()));
        boolean measuredHere = false;
        while (true) {
            checkState(clock.now().compareTo(GIVEN_UP) < 0, "no choice yet");
            Look look = table.look(true);
            if (look instanceof Look.Found found) {
                chose(kind, found.table(), measuredHere);
                return;
            }
            if (look instanceof Look.Ours ours) {
                Optional<ProfileTable> made = measure(kind, ours.lease(), number);
                if (made.isEmpty() && ours.lease().isHeld()) {
                    kind.died++;
                    if (troubles.tornWrites()) {
                        store.tear(table, ours.lease());
                    }
                    return;
                }
                if (made.isPresent()) {
                    ProfileTable agreed = table.publish(made.get(), ours.lease());
                    measuredHere = true;
                    if (!table.isUnpublished()) {
                        chose(kind, agreed, false);
                        return;
                    }
                    kind.chosenAfter.add(clock.now());
                }
            }
            clock.sleep(table.untilNextLook());
        }
    }

    private void chose(Kind kind, ProfileTable table, boolean before) {
        kind.choices.add(table);
        if (!before) {
            kind.chosenAfter.add(clock.now());
        }
        kind.allChosen = clock.now();
    }

    /** Returns what was measured; empty if the machine died, or lost its lease. */
    private Optional<ProfileTable> measure(Kind kind, Lease lease, int number) {
        kind.begun++;
        kind.measuringNow++;
        kind.measuringAtOnce = Math.max(kind.measuringAtOnce, kind.measuringNow);
        try {
            Duration time =
                    SHORTEST_MEASURING.plus(upTo(LONGEST_MEASURING.minus(SHORTEST_MEASURING)));
            Duration end = clock.now().plus(time);
            Optional<Duration> death = Optional.empty();
            if (deathsLeft > 0) {
                deathsLeft--;
                death = Optional.of(clock.now().plus(upTo(time)));
            }
            while (clock.now().compareTo(end) < 0) {
                Duration left = end.minus(clock.now());
                Duration step = left.compareTo(lease.renewEvery()) < 0 ? left : lease.renewEvery();
                clock.sleep(step);
                if (death.isPresent() && clock.now().compareTo(death.get()) >= 0) {
                    return Optional.empty();
                }
                try {
                    lease.renew();
                } catch (IOException e) {
                    // Held until its time is over.
                    continue;
                }
                if (!lease.isHeld()) {
                    kind.lost++;
                    return Optional.empty();
                }
            }
            kind.completed++;
            return Optional.of(SampleTables.small(2).with(Optional.of("by machine " + number)));
        } finally {
            kind.measuringNow--;
        }
    }

    /** A store in memory, whose operations take time; others' happen meanwhile. */
    private final class VirtualStore implements SharedStore {

        private static final Duration LATENCY = Duration.ofMillis(20);

        private final Map<String, byte[]> entries = new HashMap<>();
        private final Map<Long, Integer> inSecond = new HashMap<>();
        private final Set<Thread> tearing = new HashSet<>();
        private long operations;

        boolean works() {
            return !troubles.slow().at(clock.now()) && !troubles.dead().at(clock.now());
        }

        /** Half of an entry, as of a machine that died while it wrote. */
        void tear(SharedTable table, Lease lease) {
            tearing.add(Thread.currentThread());
            ProfileTable unused = table.publish(SampleTables.small(2), lease);
        }

        private byte[] written(byte[] content) {
            return tearing.contains(Thread.currentThread())
                    ? Arrays.copyOf(content, content.length / 2)
                    : content;
        }

        private void count() {
            operations++;
            inSecond.merge(clock.now().toSeconds(), 1, Integer::sum);
        }

        private void take() throws IOException {
            count();
            if (!works()) {
                clock.sleep(PACE.answer());
                throw new IOException("no answer");
            }
            clock.sleep(LATENCY.plus(upTo(LATENCY)));
        }

        /** A write that was given up may happen all the same. */
        private void takeToWrite(Runnable write) throws IOException {
            if (troubles.slow().at(clock.now())) {
                clock.begin(PACE.answer().plus(upTo(Duration.ofSeconds(30))), write);
            }
            take();
        }

        @Override
        public Optional<byte[]> get(String name) throws IOException {
            take();
            return Optional.ofNullable(entries.get(name)).map(byte[]::clone);
        }

        @Override
        public void put(String name, byte[] content) throws IOException {
            takeToWrite(() -> entries.put(name, content));
            if (!tearing.contains(Thread.currentThread()) || !name.contains(".lease.")) {
                entries.put(name, written(content));
            }
        }

        @Override
        public boolean putIfAbsent(String name, byte[] content) throws IOException {
            takeToWrite(() -> entries.putIfAbsent(name, content));
            return entries.putIfAbsent(name, written(content)) == null;
        }
    }
}
