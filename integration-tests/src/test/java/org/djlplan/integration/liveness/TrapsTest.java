package org.djlplan.integration.liveness;

/** On the DJL that everything is compiled against. */
class TrapsTest extends AbstractTrapsTest {}
