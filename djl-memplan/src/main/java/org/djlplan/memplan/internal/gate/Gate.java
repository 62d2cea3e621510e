package org.djlplan.memplan.internal.gate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.runtime.HeapTrimmer;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * Decides which predictions of this process run now, and on which thread. Nothing else lets a
 * prediction wait: pools of arenas and interpreters only lend.
 *
 * <p>The gate limits memory. So it distinguishes predictions by the memory that their model's last
 * predictions needed:
 *
 * <ul>
 *   <li>A <em>light</em> one takes one of the places for light ones, of which there is one per
 *       core. So it waits for other light ones only, never for large ones, and all light ones
 *       together need a few MB per core. While more than one prediction of its model is here on
 *       average, the model asks for throughput rather than for short waits: then it takes turns
 *       with large ones, because more threads than cores make both slower.
 *   <li>A <em>large</em> one takes one of a few other {@link Places}. As long as a model's memory
 *       is unknown, its predictions are large.
 * </ul>
 *
 * <p>An engine and the C library keep memory for every thread that ever ran a prediction, so few
 * threads do: the first callers, each of which has a seat, while nobody waits; otherwise workers.
 *
 * <p>A model may have a limit of its own, such as the number of its interpreters, or one prediction
 * at a time in a budget. A prediction begins when there is room for it both in its model and at the
 * gate, so no prediction holds a place while it waits for its model.
 *
 * <pre>
 *   Lane of model A   ▢ ▢ ▢ ──┐             places for light ones   ██   seats, workers
 *   Lane of model B   ▢ ──────┼─► in turns ─┤
 *   Lane of model C   ▢ ▢ ────┘             places for large ones   ██   seats, workers
 * </pre>
 *
 * <p>The predictions of a model wait in its {@link Lane}, in order of arrival. Lanes take turns: a
 * lane whose first prediction may begin lets it pass, and becomes the last one. So one caller of a
 * model waits for at most one prediction of each other model per place, however many callers these
 * have. Whenever a prediction ends, the gate goes through all lanes, so that no prediction waits
 * that could run.
 *
 * <p>A prediction within another one runs on that one's thread, and needs no place; it waits only
 * for its model's limit. If predictions wait in another way for predictions of other threads, and
 * nothing has ended for long, waiting ones begin one by one.
 *
 * <p>A caller waits uninterruptibly, because its arrays are in use; its interrupt status is
 * restored.
 */
public final class Gate {

    /** A prediction that needs at most so much is light. */
    static final long LIGHT_BYTES = 4L << 20;

    private static final Gate SHARED =
            new Gate(Machine.cores(), Duration.ofSeconds(5), Duration.ofSeconds(10));

    /**
     * The lanes of the predictions that this thread runs. Only JDK types, and removed at the end,
     * because threads outlive this class loader.
     */
    private static final ThreadLocal<List<Object>> RUNNING = new ThreadLocal<>();

    private final Duration idle;
    private final Duration patience;
    private final Places lightPlaces;

    // Guarded by this.
    private final Map<Integer, Places> places = new HashMap<>();

    /** Lanes with waiting predictions; the first one's turn is next. */
    private final Set<Lane> turns = new LinkedHashSet<>();

    private int running;

    /**
     * The current figures.
     *
     * @param busy number of predictions that run
     * @param waiting number of predictions that wait
     */
    public record Metric(int busy, int waiting) {}

    /**
     * @param lightOnes how many light predictions run at once
     * @param idle how long an idle worker lives
     * @param patience after how long without progress waiting predictions begin
     */
    Gate(int lightOnes, Duration idle, Duration patience) {
        this.idle = idle;
        this.patience = patience;
        lightPlaces = newPlaces(lightOnes, lightOnes, "light-");
    }

    /** Returns the gate of this process. */
    public static Gate shared() {
        return SHARED;
    }

    /** Returns the lane of a model whose predictions share nothing. */
    public Lane lane() {
        return lane(Lane.UNLIMITED, PoolReport.Cause.WORKERS);
    }

    /**
     * Returns the lane of a model.
     *
     * @param limit how many of its predictions may run at once
     * @param lack the reason that is counted if predictions wait because of the limit
     */
    public Lane lane(int limit, PoolReport.Cause lack) {
        return new Lane(this, limit, lack);
    }

    /** Returns the process's places of this number; for 0 none, so that predictions need none. */
    public synchronized Places places(int count) {
        return count == 0
                ? Places.NONE
                : places.computeIfAbsent(count, number -> newPlaces(number, number, ""));
    }

    /** Returns a new place with a worker, which runs all its predictions: no caller has a seat. */
    public Places ownPlace() {
        return newPlaces(1, 0, "");
    }

    private Places newPlaces(int count, int seats, String kind) {
        return new Places(count, seats, "djl-plan-worker-" + kind + count, idle, patience);
    }

    /** Returns the current figures. */
    public synchronized Metric metric() {
        return new Metric(running, turns.stream().mapToInt(lane -> lane.waiting.size()).sum());
    }

    <T> T run(
            Lane lane,
            Places large,
            long expectedBytes,
            Supplier<T> here,
            Supplier<Supplier<T>> handOver) {
        List<Object> outer = RUNNING.get();
        if (outer != null && (lane.limit == Lane.UNLIMITED || outer.contains(lane))) {
            return here.get();
        }
        Places needed = outer == null ? large : Places.NONE;
        boolean light = needed != Places.NONE && expectedBytes <= LIGHT_BYTES;
        Ticket<T> ticket = new Ticket<>(lane, needed, light ? lightPlaces : needed);
        // As on a worker, the prediction does not see it.
        boolean interrupted = Thread.interrupted();
        try {
            if (beginsAtOnce(ticket)) {
                return runHere(ticket, here);
            }
            ticket.prepare(() -> runHere(ticket, here), handOver.get());
            queue(ticket);
            Supplier<T> next = await(ticket);
            interrupted |= Thread.interrupted();
            ticket.countWait();
            return next.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Begins a prediction on its caller's thread, if that is possible without waiting. */
    private synchronized boolean beginsAtOnce(Ticket<?> ticket) {
        return ticket.suitable(System.nanoTime()).hasSeat()
                && ticket.lane.waiting.isEmpty()
                && begins(ticket);
    }

    private synchronized void queue(Ticket<?> ticket) {
        ticket.lane.countUntil(System.nanoTime());
        ticket.lane.waiting.add(ticket);
        turns.add(ticket.lane);
        letPass();
        ticket.noteWait();
    }

    /** Begins a prediction if its model and the gate have room for it; returns whether they do. */
    private boolean begins(Ticket<?> ticket) {
        long now = System.nanoTime();
        Places suitable = ticket.suitable(now);
        if (!ticket.lane.hasRoom() || !suitable.haveRoom()) {
            return false;
        }
        running++;
        ticket.begin(suitable, now);
        return true;
    }

    /** Ends a prediction, and lets others pass. */
    private synchronized void end(Ticket<?> ticket) {
        running--;
        ticket.end();
        letPass();
    }

    /**
     * Lets each prediction pass that may begin; lanes take turns. A prediction also begins without
     * a free place if the running ones may wait for it.
     */
    private synchronized void letPass() {
        Iterator<Lane> lanes = turns.iterator();
        while (lanes.hasNext()) {
            Lane lane = lanes.next();
            Ticket<?> first = lane.waiting.element();
            if (begins(first)) {
                Ticket<?> unused = lane.waiting.remove();
                turns.remove(lane);
                if (!lane.waiting.isEmpty()) {
                    turns.add(lane);
                }
                if (!first.taken().work(() -> runOnWorker(first))) {
                    first.passHere();
                }
                // From the front again, because the lane is now the last one.
                lanes = turns.iterator();
            }
        }
    }

    private <T> T runHere(Ticket<T> ticket, Supplier<T> here) {
        try {
            return asPartOf(ticket.lane, here);
        } finally {
            end(ticket);
        }
    }

    private <T> void runOnWorker(Ticket<T> ticket) {
        Supplier<T> outcome = ticket.work();
        end(ticket);
        HeapTrimmer.touch();
        // Afterwards, because its caller may come again at once.
        ticket.continueWith(outcome);
    }

    /** Runs code as part of a prediction of a lane. */
    static <T> T asPartOf(Lane lane, Supplier<T> code) {
        List<Object> outer = RUNNING.get();
        List<Object> lanes = outer == null ? new ArrayList<>(2) : outer;
        lanes.add(lane);
        RUNNING.set(lanes);
        try {
            return code.get();
        } finally {
            lanes.remove(lanes.size() - 1);
            if (lanes.isEmpty()) {
                RUNNING.remove();
            }
        }
    }

    /** Returns what a prediction's caller does when the prediction may pass, or has run. */
    private <T> Supplier<T> await(Ticket<T> ticket) {
        while (!Uninterruptibles.awaitUninterruptibly(ticket.passed(), patience)) {
            letPass();
        }
        return ticket.next();
    }
}
