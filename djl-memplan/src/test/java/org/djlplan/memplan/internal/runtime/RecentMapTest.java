package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests maps that drop the entry that was used least recently. */
class RecentMapTest {

    @Test
    void put_full_dropsTheEntryThatWasUsedLeastRecently() {
        Map<String, Integer> map = RecentMap.ofMost(2);
        map.put("a", 1);
        map.put("b", 2);
        assertEquals(1, map.get("a"));
        map.put("c", 3);
        assertEquals(Set.of("a", "c"), map.keySet());
    }
}
