// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev Makes one call whenever it is paid in the native token, within the little gas that a payment is handed. It
/// refuses the payment unless the call fails with the error that the test expects.
contract Reenterer {
    error UnexpectedAnswer();

    address public target;
    bytes4 public expected;
    bytes public data;

    function arm(address target_, bytes calldata data_, bytes4 expected_) external {
        (target, data, expected) = (target_, data_, expected_);
    }

    receive() external payable {
        (bool ok, bytes memory answer) = target.call(data);
        if (ok || bytes4(answer) != expected) revert UnexpectedAnswer();
    }
}
