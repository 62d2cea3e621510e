/** Tests of package-private classes that need the engine. */
package org.djlplan.memplan.internal.djl;
