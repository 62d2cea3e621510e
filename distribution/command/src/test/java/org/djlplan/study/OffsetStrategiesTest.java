package org.djlplan.study;

import java.util.List;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.testing.OffsetStrategyContract;

class OffsetStrategiesTest extends OffsetStrategyContract {

    @Override
    protected List<OffsetStrategy> strategies() {
        return Strategies.all();
    }
}
