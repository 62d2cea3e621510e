package org.djlplan.integration.contract;

import org.djlplan.integration.support.OnEveryDjlWhenLong;

/** The contract with PyTorch. */
@OnEveryDjlWhenLong
class TorchContractTest extends SharingContract
        implements AnswerContract, FailureContract, LifecycleContract, ReportContract {

    @Override
    public EngineCase engine() {
        return EngineCase.PYTORCH;
    }

    @Override
    int warningsOfManyLoads() {
        return 1;
    }
}
