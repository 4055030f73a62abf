"""Numba intrinsics that keep vectors of sixteen labels in processor registers.

Growing trees mostly sums rows of labels. Numba vectorizes a loop over labels only if their number is unknown at compile
time, and keeps the sums in memory. These intrinsics split a row into blocks of ``LANES`` labels and treat a block as
one value. All sums have a fixed order without fused or reassociated operations, so every machine computes the same
bytes.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.manager import DataModelManager
from numba.extending import intrinsic, models, register_model

LANES = 16


class _LanesType(types.Type):
    def __init__(self, dtype: types.Type) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: DataModelManager, lanes: _LanesType) -> None:
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), LANES))


def _load(context, builder, array_type, array, offset):  # noqa: ANN001, ANN202
    """Load ``LANES`` elements of a C-contiguous array from ``offset``, counted in elements."""
    data = context.make_array(array_type)(context, builder, array).data
    element = context.get_value_type(array_type.dtype)
    start = builder.gep(data, [offset])
    vector = builder.bitcast(start, ir.VectorType(element, LANES).as_pointer())
    return builder.load(vector, align=context.get_abi_sizeof(element))


def _spread(builder, scalar):  # noqa: ANN001, ANN202
    """Copy a number to every lane."""
    vector = ir.VectorType(scalar.type, LANES)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, cgutils.int32_t(0))
    return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(cgutils.int32_t, LANES), None))


def _total(builder, vector):  # noqa: ANN001, ANN202
    """Sum the lanes pairwise by halves."""
    width = LANES
    while width > 1:
        width //= 2
        indices = ir.VectorType(cgutils.int32_t, width)
        halves = (ir.Constant(indices, list(range(first, first + width))) for first in (0, width))
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, cgutils.int32_t(0))


@intrinsic
def no_rows(typing_context, labels):  # noqa: ANN001, ANN201
    """Return an empty sum: zeros of the data type of ``labels``.

    Parameters
    ----------
    labels : ndarray
        Labels.

    Returns
    -------
    Lanes
        Block of zeros.
    """
    lanes = _LanesType(labels.dtype)

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(labels), codegen


@intrinsic
def add_row(typing_context, lanes, labels, offset):  # noqa: ANN001, ANN201
    """Add a block of labels to a sum, in the precision of the sum.

    Parameters
    ----------
    lanes : Lanes
        Current sum.
    labels : ndarray
        Labels.
    offset : int
        Index of the first element of the block.

    Returns
    -------
    Lanes
        New sum.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, labels, offset = arguments
        row = _load(context, builder, signature.args[1], labels, offset)
        if row.type != lanes.type:
            row = _as_double(builder, row)
        return builder.fadd(lanes, row)

    return lanes(lanes, labels, types.intp), codegen


@intrinsic
def store(typing_context, lanes, array, offset):  # noqa: ANN001, ANN201
    """Write a block to an array in the precision of the array, which is at least that of the block.

    Parameters
    ----------
    lanes : Lanes
        Block to write.
    array : ndarray of shape (n,)
        Output array.
    offset : int
        Index of the first element to write.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, array, offset = arguments
        data = context.make_array(signature.args[1])(context, builder, array).data
        block = _as_double(builder, lanes) if signature.args[1].dtype == types.float64 else lanes
        vector = builder.bitcast(builder.gep(data, [offset]), block.type.as_pointer())
        builder.store(block, vector, align=context.get_abi_sizeof(block.type.element))
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp), codegen


@intrinsic
def subtract_row(typing_context, lanes, labels, offset):  # noqa: ANN001, ANN201
    """Subtract a block of labels of the same precision from a sum.

    Parameters
    ----------
    lanes : Lanes
        Current sum.
    labels : ndarray
        Labels.
    offset : int
        Index of the first element of the block.

    Returns
    -------
    Lanes
        Difference.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, labels, offset = arguments
        return builder.fsub(lanes, _load(context, builder, signature.args[1], labels, offset))

    return lanes(lanes, labels, types.intp), codegen


@intrinsic
def add_squares(typing_context, lanes, left, totals, offset, of_left, of_right):  # noqa: ANN001, ANN201
    """Add ``left**2 * of_left + (total - left)**2 * of_right`` to each lane.

    Parameters
    ----------
    lanes : Lanes
        Current sum.
    left : Lanes
        Sums of the labels in the left part of a node.
    totals : ndarray of float32 of shape (n,)
        Sums of the labels in the node.
    offset : int
        Index of the first element of the block in ``totals``.
    of_left, of_right : float32
        Factors of both parts.

    Returns
    -------
    Lanes
        New sum.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, left, totals, offset, of_left, of_right = arguments
        right = builder.fsub(_load(context, builder, signature.args[2], totals, offset), left)
        for part, factor in ((left, of_left), (right, of_right)):
            lanes = builder.fadd(lanes, builder.fmul(builder.fmul(part, part), _spread(builder, factor)))
        return lanes

    return lanes(lanes, left, totals, types.intp, types.float32, types.float32), codegen


@intrinsic
def lane_sum(typing_context, lanes):  # noqa: ANN001, ANN201
    """Sum the lanes of a block pairwise by halves.

    Parameters
    ----------
    lanes : Lanes
        Block.

    Returns
    -------
    float
        Sum in the precision of the block.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return _total(builder, arguments[0])

    return lanes.dtype(lanes), codegen


@intrinsic
def imbalance(typing_context, lanes, part, whole, totals, offset):  # noqa: ANN001, ANN201
    """Compute the sum over lanes of ``(whole * lane - part * total)**2`` in double precision.

    Parameters
    ----------
    lanes : Lanes
        Sums of the labels in one part of a node.
    part : float
        Weight of the part.
    whole : float
        Weight of the node.
    totals : ndarray of float64 of shape (n,)
        Sums of the labels in the node.
    offset : int
        Index of the first element of the block in ``totals``.

    Returns
    -------
    float
        Reduction of the summed variance, times ``part * (whole - part) * whole**2``.

    Notes
    -----
    With 0/1 labels all numbers are integers and exact below 2**53. Equally good splits then have equal scores.
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
