"""Vectors of sixteen labels that stay in processor registers.

Growing trees is mostly adding up rows of labels. Numba turns a loop over labels into vector code only when it cannot
know their number, and keeps the sums in memory. Here a row is cut into blocks of ``LANES`` labels, and a block is one
value. All sums are made in one stated order without fused or reassociated operations, so that every machine computes
the same bytes.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

LANES = 16


class _LanesType(types.Type):
    def __init__(self, dtype: types.Type) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: models.DataModelManager, lanes: _LanesType) -> None:
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), LANES))


def _load(context, builder, array_type, array, offset):  # noqa: ANN001, ANN202
    """Elements of a C-contiguous array from ``offset``, counted in elements from its beginning."""
    data = context.make_array(array_type)(context, builder, array).data
    element = context.get_value_type(array_type.dtype)
    start = builder.gep(data, [offset])
    vector = builder.bitcast(start, ir.VectorType(element, LANES).as_pointer())
    return builder.load(vector, align=context.get_abi_sizeof(element))


def _spread(builder, scalar):  # noqa: ANN001, ANN202
    """The same number in every lane."""
    vector = ir.VectorType(scalar.type, LANES)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, cgutils.int32_t(0))
    return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(cgutils.int32_t, LANES), None))


def _total(builder, vector):  # noqa: ANN001, ANN202
    """Sum of the lanes, by halves."""
    width = LANES
    while width > 1:
        width //= 2
        halves = [
            builder.shuffle_vector(
                vector, vector, ir.Constant(ir.VectorType(cgutils.int32_t, width), list(range(first, first + width)))
            )
            for first in (0, width)
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, cgutils.int32_t(0))


@intrinsic
def no_rows(typing_context, labels):  # noqa: ANN001, ANN201
    """Sum of no rows: zeros of the type of ``labels``."""
    lanes = _LanesType(labels.dtype)

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(labels), codegen


@intrinsic
def add_row(typing_context, lanes, labels, offset):  # noqa: ANN001, ANN201
    """Sum with the block of ``labels`` at ``offset`` added, in the sum's precision."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, labels, offset = arguments
        row = _load(context, builder, signature.args[1], labels, offset)
        if row.type != lanes.type:
            row = _as_double(builder, row)
        return builder.fadd(lanes, row)

    return lanes(lanes, labels, types.intp), codegen


@intrinsic
def store(typing_context, lanes, array, offset):  # noqa: ANN001, ANN201
    """Write the lanes to ``array`` from ``offset``, as double precision."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, array, offset = arguments
        data = context.make_array(signature.args[1])(context, builder, array).data
        doubles = _as_double(builder, lanes)
        vector = builder.bitcast(builder.gep(data, [offset]), doubles.type.as_pointer())
        builder.store(doubles, vector, align=8)
        return context.get_dummy_value()

    return types.void(lanes, types.Array(types.float64, 1, "C"), types.intp), codegen


@intrinsic
def imbalance(typing_context, lanes, part, whole, totals, offset):  # noqa: ANN001, ANN201
    """Sum over lanes of ``(whole * lane - part * total)**2`` in double precision.

    For a part of weight ``part`` of a node of weight ``whole``, whose labels sum to ``lanes`` of ``totals``, that is
    the reduction of the summed variance times ``part * (whole - part) * whole**2``. With 0/1 labels all numbers are
    whole and exact below 2**53, so that equally good splits have equal scores.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, part, whole, totals, offset = arguments
        total = _load(context, builder, signature.args[3], totals, offset)
        scaled = builder.fmul(_as_double(builder, lanes), _spread(builder, whole))
        difference = builder.fsub(scaled, builder.fmul(total, _spread(builder, part)))
        return _total(builder, builder.fmul(difference, difference))

    arguments = (lanes, types.float64, types.float64, types.Array(types.float64, 1, "C"), types.intp)
    return types.float64(*arguments), codegen


def _as_double(builder, lanes):  # noqa: ANN001, ANN202
    doubles = ir.VectorType(ir.DoubleType(), LANES)
    return lanes if lanes.type == doubles else builder.fpext(lanes, doubles)
