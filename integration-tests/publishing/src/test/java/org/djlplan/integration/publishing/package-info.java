/** What a release publishes, and an application that is built of it. */
package org.djlplan.integration.publishing;
