// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {VaultState} from "../../src/interfaces/IGeoVault.sol";

/// @dev A third party's vault. It returns the configured state for any order.
contract FakeVault {
    VaultState public state;

    function setState(VaultState value) external {
        state = value;
    }

    function orderState(bytes32) external view returns (VaultState) {
        return state;
    }

    function releaseFilled(IGeoEscrow escrow, Order calldata order) external {
        escrow.releaseFilled(order);
    }
}
