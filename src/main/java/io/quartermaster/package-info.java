@NullMarked
package io.quartermaster;

import org.jspecify.annotations.NullMarked;
