package org.djlplan.memplan.study.shared;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.OptionalLong;

/**
 * When {@link OptimalObjects} gives up.
 *
 * @param nodes most nodes of the search, where nodes that take longer than usual count as several;
 *     the same number gives the same plan on any machine
 * @param nanos most time, if limited; a plan that depends on it may differ from run to run
 */
public record SearchLimit(long nodes, OptionalLong nanos) {

    public SearchLimit {
        checkArgument(nodes >= 0, "limit of %s nodes", nodes);
    }

    /** A limit of nodes alone. */
    public static SearchLimit ofNodes(long nodes) {
        return new SearchLimit(nodes, OptionalLong.empty());
    }
}
