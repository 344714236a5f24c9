// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Terms} from "../Order.sol";

/// @title IGeoPayer
/// @notice A wallet that pays for orders which its owner signed.
interface IGeoPayer {
    /// @notice Pays the input of an order to the escrow that calls. Reverts unless `proof` shows that the owner agreed.
    /// @param orderId The order's id. It stands first, so that a stranger's contract which has another function with
    /// this selector gets a hash, and nothing that somebody chose, where an address or an amount would stand.
    /// @param terms The order's terms.
    /// @param proof What the wallet's code needs to see.
    function pay(bytes32 orderId, Terms calldata terms, bytes calldata proof) external;
}
