// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title DevBlocklist
/// @notice A token for simulated chains that pays no account on a blocklist. It delegates every call to another token's
/// code, after that one check. An account is on the list while its own code is `5f5ffd`.
contract DevBlocklist {
    /// @dev The code `revert(0, 0)`. Such an account also refuses the native token, and does not spend the gas that it
    /// is given.
    bytes32 private constant _BLOCKED_CODE_HASH = keccak256(hex"5f5ffd");

    address private immutable _TOKEN;

    constructor(address token) {
        _TOKEN = token;
    }

    fallback() external payable {
        if (msg.sig == IERC20.transfer.selector) _check(_addressAt(4));
        if (msg.sig == IERC20.transferFrom.selector) _check(_addressAt(36));
        address token = _TOKEN;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let success := delegatecall(gas(), token, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(success) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }

    function _check(address to) private view {
        if (to.codehash == _BLOCKED_CODE_HASH) revert IERC20Errors.ERC20InvalidReceiver(to);
    }

    function _addressAt(uint256 offset) private pure returns (address) {
        return
            msg.data.length < offset + 32
                ? address(0)
                : address(uint160(uint256(bytes32(msg.data[offset:offset + 32]))));
    }
}
