package org.djlplan.memplan.internal.djl.liveness;

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
        assertTrue(Managers.keepsOwner(root, root, root));
        assertTrue(Managers.keepsOwner(scope, scope, root));
        assertTrue(Managers.keepsOwner(scope, root, root));
    }

    @Test
    void stayed_attachedElsewhere_no() {
        assertFalse(Managers.keepsOwner(root, model, root));
        assertFalse(Managers.keepsOwner(root, other, root));
        assertFalse(Managers.keepsOwner(root, scope, root));
    }

    @Test
    void stayed_roseFromAScopeThatEnded_yesOnceItIsClosed() {
        assertFalse(Managers.keepsOwner(inner, scope, root));
        inner.close();
        assertTrue(Managers.keepsOwner(inner, scope, root));
        // One step, not two.
        NDManager deep = FakeArrays.manager(inner);
        deep.close();
        assertFalse(Managers.keepsOwner(deep, scope, root));
    }

    /** A detached array belongs to the top manager, even if the array was made there. */
    @Test
    void stayed_atTheTop_no() {
        assertFalse(Managers.keepsOwner(top, top, top));
        assertFalse(Managers.keepsOwnerDuringPass(root, top, root));
        model.close();
        assertFalse(Managers.keepsOwner(model, top, root));
    }

    @Test
    void staysFor_anyScopeOfTheCall_yes() {
        assertTrue(Managers.keepsOwnerDuringPass(root, inner, root));
        assertTrue(Managers.keepsOwnerDuringPass(inner, other, root));
        assertFalse(Managers.keepsOwnerDuringPass(root, model, root));
    }

    @Test
    void staysFor_madeOutsideTheCall_belowItsOwnManagerOnly() {
        NDManager elsewhere = FakeArrays.manager(model);
        NDManager below = FakeArrays.manager(elsewhere);
        assertTrue(Managers.keepsOwnerDuringPass(elsewhere, below, root));
        assertFalse(Managers.keepsOwnerDuringPass(below, elsewhere, root));
        below.close();
        assertTrue(Managers.keepsOwnerDuringPass(below, elsewhere, root));
    }
}
