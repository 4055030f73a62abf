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
FLAGS = 64  # that are looked at together


class _LanesType(types.Type):
    def __init__(self, dtype: types.Type) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: models.DataModelManager, lanes: _LanesType) -> None:
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), LANES))


def _load(context, builder, array_type, array, offset, width=LANES):  # noqa: ANN001, ANN202
    """Elements of a C-contiguous array from ``offset``, counted in elements from its beginning."""
    data = context.make_array(array_type)(context, builder, array).data
    element = context.get_value_type(array_type.dtype)
    start = builder.gep(data, [offset])
    vector = builder.bitcast(start, ir.VectorType(element, width).as_pointer())
    return builder.load(vector, align=context.get_abi_sizeof(element))


def _store(context, builder, array_type, array, offset, vector):  # noqa: ANN001, ANN202
    """Write a vector to an array of its elements' type from ``offset``."""
    data = context.make_array(array_type)(context, builder, array).data
    start = builder.bitcast(builder.gep(data, [offset]), vector.type.as_pointer())
    builder.store(vector, start, align=context.get_abi_sizeof(vector.type.element))


def _sum(builder, one, other):  # noqa: ANN001, ANN202
    return (builder.add if isinstance(one.type.element, ir.IntType) else builder.fadd)(one, other)


def _choose(builder, one, other, lanes):  # noqa: ANN001, ANN202
    """The vector of these lanes of two, counted through both."""
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(cgutils.int32_t, len(lanes)), list(lanes)))


def _product(builder, one, other):  # noqa: ANN001, ANN202
    """Products of lanes of 16 bits, in 32 bits, the sum of each two neighbours: one instruction of most processors."""
    wide = ir.VectorType(cgutils.int32_t, LANES)
    product = builder.mul(builder.sext(one, wide), builder.sext(other, wide))
    evens, odds = (_choose(builder, product, product, range(first, LANES, 2)) for first in (0, 1))
    return builder.add(evens, odds)


def _both_totals(builder, one, other):  # noqa: ANN001, ANN202
    """Sums of the lanes of two vectors of ``LANES // 2``, which are 8, as a vector of 2."""
    sums = builder.add(
        _choose(builder, one, other, (0, 2, 8, 10, 4, 6, 12, 14)),
        _choose(builder, one, other, (1, 3, 9, 11, 5, 7, 13, 15)),
    )
    sums = builder.add(_choose(builder, sums, sums, range(4)), _choose(builder, sums, sums, range(4, 8)))
    return builder.add(_choose(builder, sums, sums, (0, 2)), _choose(builder, sums, sums, (1, 3)))


def _spread(builder, scalar, width=LANES):  # noqa: ANN001, ANN202
    """The same number in every lane."""
    vector = ir.VectorType(scalar.type, width)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, cgutils.int32_t(0))
    return _choose(builder, single, single, [0] * width)


def _total(builder, vector):  # noqa: ANN001, ANN202
    """Sum of the lanes, by halves."""
    width = LANES
    while width > 1:
        width //= 2
        halves = [
            builder.shuffle_vector(
                vector,
                vector,
                ir.Constant(ir.VectorType(cgutils.int32_t, width), list(range(first, first + width))),
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
        return _sum(builder, lanes, row)

    return lanes(lanes, labels, types.intp), codegen


@intrinsic
def add_row_where(typing_context, lanes, labels, offset, masks, place):  # noqa: ANN001, ANN201
    """The same if ``masks[place]``, as wide as a label, is -1, and not if it is 0: without a branch."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, labels, offset, masks, place = arguments
        row = _load(context, builder, signature.args[1], labels, offset)
        data = context.make_array(signature.args[3])(context, builder, masks).data
        mask = _spread(builder, builder.load(builder.gep(data, [place])))
        masked = builder.bitcast(builder.and_(builder.bitcast(row, mask.type), mask), row.type)
        return _sum(builder, lanes, masked if row.type == lanes.type else _as_double(builder, masked))

    return lanes(lanes, labels, types.intp, masks, types.intp), codegen


@intrinsic
def rest_of(typing_context, lanes, totals, offset):  # noqa: ANN001, ANN201
    """The block of ``totals`` at ``offset`` less the lanes, of the same type."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, totals, offset = arguments
        return builder.sub(_load(context, builder, signature.args[1], totals, offset), lanes)

    return lanes(lanes, totals, types.intp), codegen


@intrinsic
def put(typing_context, lanes, array, offset):  # noqa: ANN001, ANN201
    """Write the lanes to ``array``, of their type, from ``offset``."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, array, offset = arguments
        _store(context, builder, signature.args[1], array, offset, lanes)
        return context.get_dummy_value()

    return types.void(lanes, array, types.intp), codegen


@intrinsic
def last_pair(typing_context, lanes):  # noqa: ANN001, ANN201
    """The last two of 16-bit lanes as one number, the last one in its upper half."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        pairs = builder.bitcast(arguments[0], ir.VectorType(cgutils.int32_t, LANES // 2))
        return builder.extract_element(pairs, cgutils.int32_t(LANES // 2 - 1))

    return types.uint32(lanes), codegen


@intrinsic
def products(typing_context, lanes, own, totals, offset):  # noqa: ANN001, ANN201
    """Sums over lanes of 16 bits of ``lane**2``, in the lower half of the result, and ``lane * total``, in the upper.

    Lanes count where those of ``own``, -1 or 0, are not 0.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, own, totals, offset = arguments
        array = signature.args[1]
        counted = builder.and_(lanes, _load(context, builder, array, own, offset))
        total = _load(context, builder, array, totals, offset)
        pair = _both_totals(builder, _product(builder, counted, counted), _product(builder, counted, total))
        return builder.bitcast(pair, ir.IntType(64))

    return types.int64(lanes, own, own, types.intp), codegen


@intrinsic
def add_less(typing_context, lanes, keys, offset, key):  # noqa: ANN001, ANN201
    """Add one to lanes in which the block of ``keys`` at ``offset`` is above ``key``."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        lanes, keys, offset, key = arguments
        block = _load(context, builder, signature.args[1], keys, offset)
        is_less = builder.icmp_signed("<", _spread(builder, key), block)
        return builder.sub(lanes, builder.sext(is_less, lanes.type))

    return lanes(lanes, keys, types.intp, keys.dtype), codegen


@intrinsic
def mask_block(typing_context, numbers, first, most, masks, offset):  # noqa: ANN001, ANN201
    """Write -1 for whole numbers from ``first`` that are at most ``most``, 0 for others, to ``masks`` at ``offset``.

    Returns which are, one bit for each of a block.
    """

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        numbers, first, most, masks, offset = arguments
        block = _load(context, builder, signature.args[0], numbers, first)
        is_low = builder.icmp_signed("<=", block, _spread(builder, most))
        mask = builder.sext(is_low, ir.VectorType(context.get_value_type(signature.args[3].dtype), LANES))
        _store(context, builder, signature.args[3], masks, offset, mask)
        return builder.zext(builder.bitcast(is_low, ir.IntType(LANES)), ir.IntType(64))

    return types.uint64(numbers, types.intp, numbers.dtype, masks, types.intp), codegen


@intrinsic
def extremes(typing_context, numbers, n):  # noqa: ANN001, ANN201
    """The lowest and the highest of ``n`` signed whole numbers; those behind them, up to a whole block, are changed."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        numbers, n = arguments
        array = signature.args[0]
        first = builder.extract_element(_load(context, builder, array, numbers, n.type(0)), cgutils.int32_t(0))
        everywhere = _spread(builder, first)
        _store(context, builder, array, numbers, n, everywhere)
        found = [cgutils.alloca_once_value(builder, everywhere) for _ in range(2)]
        with cgutils.for_range_slice(builder, n.type(0), n, n.type(LANES)) as (offset, _):
            block = _load(context, builder, array, numbers, offset)
            for place, sign in zip(found, "<>", strict=True):
                builder.store(_nearer(builder, sign, builder.load(place), block), place)
        ends = [_outermost(builder, sign, builder.load(place)) for place, sign in zip(found, "<>", strict=True)]
        return context.make_tuple(builder, signature.return_type, ends)

    return types.UniTuple(numbers.dtype, 2)(numbers, types.intp), codegen


def _nearer(builder, sign, one, other):  # noqa: ANN001, ANN202
    """Lane by lane the lower ("<") or the higher (">")."""
    return builder.select(builder.icmp_signed(sign, one, other), one, other)


def _outermost(builder, sign, vector):  # noqa: ANN001, ANN202
    """The lowest or highest lane, by halves."""
    width = LANES
    while width > 1:
        width //= 2
        vector = _nearer(builder, sign, *(_choose(builder, vector, vector, range(at, at + width)) for at in (0, width)))
    return builder.extract_element(vector, cgutils.int32_t(0))


@intrinsic
def nonzero_bits(typing_context, flags, first):  # noqa: ANN001, ANN201
    """Which of ``FLAGS`` bytes from ``first`` are not 0, one bit for each."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        block = _load(context, builder, signature.args[0], *arguments, FLAGS)
        return builder.bitcast(builder.icmp_unsigned("!=", block, ir.Constant(block.type, None)), ir.IntType(FLAGS))

    return types.uint64(types.Array(types.uint8, 1, "C"), types.intp), codegen


@intrinsic
def bits_up_to(typing_context, numbers, first, most):  # noqa: ANN001, ANN201
    """Which of ``FLAGS`` whole numbers from ``first`` are at most ``most``, one bit for each."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        numbers, first, most = arguments
        block = _load(context, builder, signature.args[0], numbers, first, FLAGS)
        compare = builder.icmp_signed if signature.args[2].signed else builder.icmp_unsigned
        return builder.bitcast(compare("<=", block, _spread(builder, most, FLAGS)), ir.IntType(FLAGS))

    return types.uint64(numbers, types.intp, numbers.dtype), codegen


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
