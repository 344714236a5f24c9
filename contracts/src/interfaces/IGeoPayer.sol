// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Terms} from "../Order.sol";

/// @title IGeoPayer
/// @notice A wallet that pays for orders which its owner signed.
interface IGeoPayer {
    /// @notice Pays the input of an order to the escrow that calls. Reverts unless `proof` shows that the owner agreed.
    /// @param orderId The order's id. It stands first, so that a third party's contract which has another function with
    /// this selector gets a hash, which no caller can choose, in place of an address or an amount.
    /// @param terms The order's terms.
    /// @param proof The proof for the wallet's code.
    function pay(bytes32 orderId, Terms calldata terms, bytes calldata proof) external;
}
