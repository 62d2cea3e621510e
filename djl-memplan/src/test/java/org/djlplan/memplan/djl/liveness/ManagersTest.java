package org.djlplan.memplan.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class ManagersTest {

    private final NDManager top = FakeArrays.manager();
    private final NDManager model = FakeArrays.manager(top);
    private final NDManager root = FakeArrays.manager(model);
    private final NDManager scope = FakeArrays.manager(root);
    private final NDManager inner = FakeArrays.manager(scope);
    private final NDManager other = FakeArrays.manager(root);

    @Test
    void within_itselfAndEverythingBelow_yes() {
        assertTrue(Managers.within(root, root));
        assertTrue(Managers.within(inner, root));
        assertFalse(Managers.within(model, root));
        assertFalse(Managers.within(other, scope));
    }

    @Test
    void stayed_whereItWasMadeOrWithTheCall_yes() {
        assertTrue(Managers.stayed(root, root, root));
        assertTrue(Managers.stayed(scope, scope, root));
        assertTrue(Managers.stayed(scope, root, root));
    }

    @Test
    void stayed_attachedElsewhere_no() {
        assertFalse(Managers.stayed(root, model, root));
        assertFalse(Managers.stayed(root, other, root));
        assertFalse(Managers.stayed(root, scope, root));
    }

    @Test
    void stayed_roseFromAScopeThatEnded_yesOnceItIsClosed() {
        assertFalse(Managers.stayed(inner, scope, root));
        inner.close();
        assertTrue(Managers.stayed(inner, scope, root));
        // One step, not two.
        NDManager deep = FakeArrays.manager(inner);
        deep.close();
        assertFalse(Managers.stayed(deep, scope, root));
    }

    /** What is detached belongs to the top, even if that is where it was made. */
    @Test
    void stayed_atTheTop_no() {
        assertFalse(Managers.stayed(top, top, top));
        assertFalse(Managers.staysFor(root, top, root));
        model.close();
        assertFalse(Managers.stayed(model, top, root));
    }

    @Test
    void staysFor_anyScopeOfTheCall_yes() {
        assertTrue(Managers.staysFor(root, inner, root));
        assertTrue(Managers.staysFor(inner, other, root));
        assertFalse(Managers.staysFor(root, model, root));
    }

    @Test
    void staysFor_madeOutsideTheCall_belowItsOwnManagerOnly() {
        NDManager elsewhere = FakeArrays.manager(model);
        NDManager below = FakeArrays.manager(elsewhere);
        assertTrue(Managers.staysFor(elsewhere, below, root));
        assertFalse(Managers.staysFor(below, elsewhere, root));
        below.close();
        assertTrue(Managers.staysFor(below, elsewhere, root));
    }
}
