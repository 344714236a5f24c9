// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev A limit on what may leave, in one slot. What was used drains away linearly, the whole cap in an hour.
struct Cap {
    uint96 perHour;
    uint96 used;
    uint64 updatedAt;
}

/// @notice The cap leaves less than the requested amount.
error CapExceeded(uint256 asked, uint256 available);

using {available, spend, set} for Cap global;

/// @dev What still counts as used of a cap of `maxAmount` that drains in `period` seconds.
function usedNow(uint256 used, uint256 updatedAt, uint256 maxAmount, uint256 period) view returns (uint256) {
    uint256 drained = maxAmount * (block.timestamp - updatedAt) / period;
    return drained < used ? used - drained : 0;
}

function available(Cap memory cap) view returns (uint256) {
    uint256 used = usedNow(cap.used, cap.updatedAt, cap.perHour, 1 hours);
    return used < cap.perHour ? cap.perHour - used : 0;
}

/// @dev Takes an amount out of the cap. Without a cap nothing leaves, not even an amount of zero.
function spend(Cap storage self, uint256 amount) {
    Cap memory cap = self;
    uint256 left = cap.available();
    if (amount > left || cap.perHour == 0) revert CapExceeded(amount, left);
    // Both terms together are at most `perHour`.
    // forge-lint: disable-next-line(unsafe-typecast)
    self.used = uint96(cap.perHour - left + amount);
    self.updatedAt = uint64(block.timestamp);
}

function set(Cap storage self, uint96 perHour) {
    Cap memory cap = self;
    uint256 used = usedNow(cap.used, cap.updatedAt, cap.perHour, 1 hours);
    // No more than the new cap. Otherwise a lower one would take hours to let anything out again.
    // forge-lint: disable-next-line(unsafe-typecast)
    self.used = uint96(used < perHour ? used : perHour);
    self.updatedAt = uint64(block.timestamp);
    self.perHour = perHour;
}
