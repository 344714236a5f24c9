// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev Prints a line beside the result of a test, with `forge test -vv`.
function print(string memory line) view {
    (bool ok,) = 0x000000000000000000636F6e736F6c652e6c6f67.staticcall(abi.encodeWithSignature("log(string)", line));
    ok;
}
