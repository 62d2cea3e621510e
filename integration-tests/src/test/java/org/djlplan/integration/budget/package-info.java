/** Models in processes of their own, whose memory is measured from outside. */
package org.djlplan.integration.budget;
