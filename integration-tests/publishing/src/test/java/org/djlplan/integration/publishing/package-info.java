/** The artifacts of a release, and an application that is built from them. */
package org.djlplan.integration.publishing;
