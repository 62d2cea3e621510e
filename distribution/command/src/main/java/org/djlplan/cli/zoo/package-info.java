/** DJL's own networks, which need no file: the catalogue for {@code zoo:NAME}. */
package org.djlplan.cli.zoo;
