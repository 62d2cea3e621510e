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
 * The idle interpreters of a pool, and the recent shapes for which they are worth keeping. Selects
 * the interpreter that serves a prediction (unchanged, or reallocated for other shapes), and the
 * interpreters to close. Not thread-safe: the lock of {@link InterpreterPool} guards it.
 */
final class IdleInterpreters {

    /**
     * The most memory that interpreters for other shapes may hold together. The last used one
     * counts, but is never closed for this reason.
     */
    private static final long MOST_BYTES = 64L << 20;

    /** How many shapes other than the file's are remembered. */
    static final int RECENT_SHAPES = 8;

    private final Duration kept;

    /** The last used interpreter is first. */
    private final Deque<Idle> all = new ArrayDeque<>();

    /** The last {@link #RECENT_SHAPES} shapes other than the file's, the latest one first. */
    private final Deque<List<List<Integer>>> recent = new ArrayDeque<>();

    private record Idle(ModelInterpreter interpreter, long sinceNanos) {}

    /**
     * @param kept how long an unused interpreter is kept
     */
    IdleInterpreters(Duration kept) {
        this.kept = kept;
    }

    Duration kept() {
        return kept;
    }

    int size() {
        return all.size();
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Returns all interpreters, the last used one first. */
    List<ModelInterpreter> interpreters() {
        List<ModelInterpreter> result = new ArrayList<>(all.size());
        for (Idle each : all) {
            result.add(each.interpreter());
        }
        return result;
    }

    void addUsed(ModelInterpreter interpreter) {
        all.addFirst(new Idle(interpreter, System.nanoTime()));
    }

    /** Adds a new interpreter, which is closed before the used ones. */
    void addUnused(ModelInterpreter interpreter) {
        all.addLast(new Idle(interpreter, System.nanoTime()));
    }

    /** Takes an interpreter that is allocated for these shapes. */
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
     * Takes the interpreter that was unused for longest, to be reallocated for these shapes. If one
     * more may be built, it takes none for recent shapes, which get a new interpreter, and none
     * that is allocated for the shapes in the file.
     *
     * @param room whether one more may be built
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

    /** Takes the interpreter that was unused for longest; there is at least one. */
    ModelInterpreter takeOldest() {
        return all.removeLast().interpreter();
    }

    /** Returns whether the interpreter that was unused for longest was kept long enough. */
    boolean isOldestStale(long now) {
        return now - all.getLast().sinceNanos() >= kept.toNanos();
    }

    /**
     * Takes the interpreters for other shapes than the file's that exceed the memory limit for such
     * interpreters, counted from the last used one, which stays.
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

    /** Takes the interpreters of choices that do not serve any more. */
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
            // The interpreters taken here were those for the recent shapes.
            recent.clear();
        }
        return gone;
    }

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
