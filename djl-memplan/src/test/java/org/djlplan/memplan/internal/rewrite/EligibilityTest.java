package org.djlplan.memplan.internal.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EligibilityTest {

    private static final String FLAGS =
            """
            graph(%self : __torch__.M, %x.1 : Tensor):
              %on : bool = prim::Constant[value=1]()
              %off : bool = prim::Constant[value=0]()
              %float : int = prim::Constant[value=6]()
              %half : int = prim::Constant[value=5]()
              %p : float = prim::Constant[value=0.5]()
              %none : NoneType = prim::Constant()
              %w : Float(4, 4, strides=[4, 1]) = prim::Constant[value=<Tensor>]()
            """;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "%y : Tensor = aten::linear(%x.1, %w, %none)",
                "%y : Tensor = aten::dropout(%x.1, %p, %off)",
                "%y : Tensor = aten::batch_norm(%x.1, %w, %w, %w, %w, %off, %p, %p, %on)",
                "%y : Tensor = aten::to(%x.1, %float, %off, %off, %none)",
                "%y : Tensor = aten::random_name(%x.1)"
            })
    void problem_pureGraph_isNone(String line) {
        assertEquals(Optional.empty(), Eligibility.problem(FLAGS + "  " + line));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    %y : Tensor = aten::rand_like(%x.1, %none)            | it draws random numbers (rand_like)
                    %y : Tensor = aten::bernoulli_(%x.1, %p, %none)       | it draws random numbers (bernoulli_)
                    %y : Tensor = aten::normal(%x.1, %p)                  | it draws random numbers (normal)
                    %y : Tensor = aten::dropout(%x.1, %p, %on)            | it is in training mode
                    %y : Tensor = aten::dropout(%x.1, %p, %computed)      | it is in training mode
                    %y : Tensor = aten::batch_norm(%x.1, %w, %w, %w, %w, %on, %p, %p, %on) | it is in training mode
                    = prim::SetAttr[name="count"](%self, %x.1)            | it changes its attribute count
                    %y : Tensor = prim::GetAttr[name="mean"](%self)       | it changes its attribute mean
                    %y : Tensor = quantized::linear_dynamic(%x.1, %w)     | it is quantized
                    %y : Tensor = aten::dequantize(%x.1)                  | it is quantized
                    %y : Tensor = aten::to(%x.1, %half, %off, %off, %none) | it computes in 16-bit floats
                    %y : BFloat16(4, strides=[1]) = prim::Constant[value=<Tensor>]() | it computes in 16-bit floats
                    """)
    void problem_graphThatMustStay_namesIt(String line, String expected) {
        assertEquals(Optional.of(expected), Eligibility.problem(FLAGS + "  " + line));
    }
}
