package org.djlplan.memplan.internal.djl.purity;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.djl.purity.CodeReader.Lambda;

/**
 * The lambda expressions and method references that calls of an interface may reach. If the called
 * object comes from a field that no analyzed code writes, these are the functions found in that
 * field; otherwise they are all functions that may be called from anywhere.
 */
final class KnownFunctions {

    private final Set<Lambda> escaped = new LinkedHashSet<>();
    private final Map<String, Set<Lambda>> inFields = new HashMap<>();
    private final Set<String> written = new HashSet<>();

    /**
     * Adds a function that may be called from anywhere.
     *
     * @return whether it was not known before
     */
    boolean escape(Lambda lambda) {
        for (Lambda other : escaped) {
            if (other.body().equals(lambda.body()) && other.type().equals(lambda.type())) {
                return false;
            }
        }
        return escaped.add(lambda);
    }

    /** Adds functions of which a field has one. */
    void addTo(String field, Set<Lambda> functions) {
        inFields.computeIfAbsent(field, key -> new LinkedHashSet<>()).addAll(functions);
    }

    /**
     * Records that a field may later have other content.
     *
     * @return whether that is new
     */
    boolean noteWrite(String field) {
        return written.add(field);
    }

    /** Returns whether functions were found in a field. */
    boolean hasFunctions(String field) {
        return inFields.containsKey(field);
    }

    /**
     * Returns the functions that a call may reach, of any interface.
     *
     * @param field in which the called function was found, if known
     */
    List<Lambda> reachable(Optional<String> field) {
        boolean known =
                field.isPresent() && hasFunctions(field.get()) && !written.contains(field.get());
        return new ArrayList<>(known ? inFields.get(field.get()) : escaped);
    }
}
