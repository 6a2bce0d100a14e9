# SPDX-License-Identifier: MIT
"""The fields of protocol buffers' messages, as far as profile.proto has them: numbers and bytes"""


def number(data, at):
    """(a varint, what is behind it)"""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value - (1 << 64) if value >> 63 else value, at


def numbers(value):
    """Of a repeated field: bytes that are packed numbers, or one number"""
    if not isinstance(value, bytes):
        yield value
        return
    at = 0
    while at < len(value):
        one, at = number(value, at)
        yield one


def fields(data):
    """(number of the field, value) of each field of a message"""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 2:
            size, at = number(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value
