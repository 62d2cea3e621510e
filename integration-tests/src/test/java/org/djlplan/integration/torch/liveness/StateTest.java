package org.djlplan.integration.torch.liveness;

/** On the DJL that everything is compiled against. */
class StateTest extends AbstractStateTest {}
