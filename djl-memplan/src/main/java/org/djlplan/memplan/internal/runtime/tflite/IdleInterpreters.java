package org.djlplan.memplan.internal.runtime.tflite;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.spi.Candidate;

/**
 * The idle interpreters of a pool, and the shapes of late for which they are worth keeping. Selects
 * which of them serves a prediction, as it is or allocated for other shapes, and which are closed.
 * Not thread-safe: the lock of {@link InterpreterPool} guards it.
 */
final class IdleInterpreters {

    /**
     * The most memory that interpreters for other shapes may hold together, including the last used
     * one, which stays.
     */
    private static final long MOST_BYTES = 64L << 20;

    /** How many shapes other than the file's are remembered. */
    static final int RECENT_SHAPES = 8;

    private final Duration kept;

    /** The one that was used last comes first. */
    private final Deque<Idle> all = new ArrayDeque<>();

    /** The last {@link #RECENT_SHAPES} shapes other than the file's, the latest one first. */
    private final Deque<List<List<Integer>>> recent = new ArrayDeque<>();

    private record Idle(ModelInterpreter interpreter, long sinceNanos) {}

    /**
     * @param kept how long an unused one is kept
     */
    IdleInterpreters(Duration kept) {
        this.kept = kept;
    }

    /** Returns how long an unused one is kept. */
    Duration kept() {
        return kept;
    }

    int size() {
        return all.size();
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Returns all of them, the one that was used last first. */
    List<ModelInterpreter> interpreters() {
        List<ModelInterpreter> result = new ArrayList<>(all.size());
        for (Idle each : all) {
            result.add(each.interpreter());
        }
        return result;
    }

    /** Adds one that was just used. */
    void addUsed(ModelInterpreter interpreter) {
        all.addFirst(new Idle(interpreter, System.nanoTime()));
    }

    /** Adds one that was not used yet. */
    void addUnused(ModelInterpreter interpreter) {
        all.addLast(new Idle(interpreter, System.nanoTime()));
    }

    /** Takes one that serves these shapes as it is. */
    Optional<ModelInterpreter> take(List<List<Integer>> shapes, Candidate wanted) {
        for (Iterator<Idle> i = all.iterator(); i.hasNext(); ) {
            ModelInterpreter interpreter = i.next().interpreter();
            if (interpreter.hasShapes(shapes) && interpreter.delegates(wanted)) {
                i.remove();
                return Optional.of(interpreter);
            }
        }
        return Optional.empty();
    }

    /**
     * Takes one to allocate it for these shapes: as the engine does by itself, the one that was not
     * used for longest. If there is room for one more, recent shapes get it, and an interpreter for
     * the shapes in the file is let be.
     */
    Optional<ModelInterpreter> takeOther(
            List<List<Integer>> shapes,
            Candidate wanted,
            boolean room,
            InterpreterPool.Supply supply) {
        if (room && (supply.isInFile(shapes) || recent.contains(shapes))) {
            return Optional.empty();
        }
        for (Iterator<Idle> i = all.descendingIterator(); i.hasNext(); ) {
            ModelInterpreter interpreter = i.next().interpreter();
            if (interpreter.delegates(wanted)
                    && supply.reshapes(interpreter, shapes)
                    && !(room && interpreter.hasShapesInFile())) {
                i.remove();
                return Optional.of(interpreter);
            }
        }
        return Optional.empty();
    }

    /** Takes the one that was not used for longest; there is one. */
    ModelInterpreter takeOldest() {
        return all.removeLast().interpreter();
    }

    /** Returns whether the one that was not used for longest has been kept long enough. */
    boolean isOldestStale(long now) {
        return now - all.getLast().sinceNanos() >= kept.toNanos();
    }

    /**
     * Takes those for other shapes than the file's that hold more than is allowed, but for the one
     * of them that was used last.
     */
    List<ModelInterpreter> takeLarge() {
        List<ModelInterpreter> large = new ArrayList<>();
        long bytes = 0;
        for (Iterator<Idle> i = all.iterator(); i.hasNext(); ) {
            ModelInterpreter interpreter = i.next().interpreter();
            if (interpreter.hasShapesInFile()) {
                continue;
            }
            boolean last = bytes == 0;
            bytes += interpreter.heldBytes();
            if (!last && bytes > MOST_BYTES) {
                i.remove();
                large.add(interpreter);
            }
        }
        return large;
    }

    /** Takes those that do not serve any more. */
    List<ModelInterpreter> takeUnserved(InterpreterPool.Supply supply) {
        List<ModelInterpreter> gone = new ArrayList<>();
        for (Iterator<Idle> i = all.iterator(); i.hasNext(); ) {
            ModelInterpreter interpreter = i.next().interpreter();
            if (!supply.serves(interpreter)) {
                gone.add(interpreter);
                i.remove();
            }
        }
        if (!gone.isEmpty()) {
            // There are no interpreters for these any more.
            recent.clear();
        }
        return gone;
    }

    /** Takes all. */
    List<ModelInterpreter> takeAll() {
        List<ModelInterpreter> gone = interpreters();
        all.clear();
        return gone;
    }

    /** Remembers shapes other than the file's. */
    void noteShapes(List<List<Integer>> shapes, boolean inFile) {
        if (inFile || shapes.equals(recent.peekFirst())) {
            return;
        }
        if (!recent.remove(shapes) && recent.size() == RECENT_SHAPES) {
            recent.removeLast();
        }
        recent.addFirst(shapes);
    }
}
