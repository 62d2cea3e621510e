package org.djlplan.integration.contract;

import org.djlplan.integration.support.OnEveryDjl;

/** The contract with PyTorch. */
@OnEveryDjl
class TorchContractTest
        implements AnswerContract,
                FailureContract,
                LifecycleContract,
                ReportContract,
                SharingContract {

    @Override
    public EngineCase engine() {
        return EngineCase.PYTORCH;
    }

    @Override
    public int warningsOfManyLoads() {
        return 1;
    }
}
