package org.djlplan.integration.contract;

import org.djlplan.integration.support.OnEveryDjlWhenLong;

/** The contract with TensorFlow Lite. */
@OnEveryDjlWhenLong
class TfLiteContractTest extends SharingContract
        implements AnswerContract, FailureContract, LifecycleContract, ReportContract {

    @Override
    public EngineCase engine() {
        return EngineCase.TFLITE;
    }

    @Override
    int warningsOfManyLoads() {
        return 0;
    }
}
