// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Terms, toAddress} from "../Order.sol";
import {IGeoAccount} from "../interfaces/IGeoAccount.sol";
import {IGeoPayer} from "../interfaces/IGeoPayer.sol";

/// @title SimulatedPayer
/// @notice Stands in a wallet's place while an order is simulated that the wallet has not signed yet. It pays without a
/// proof. It is never deployed.
contract SimulatedPayer is IGeoPayer {
    using SafeERC20 for IERC20;

    /// @inheritdoc IGeoPayer
    function pay(bytes32, Terms calldata terms, bytes calldata) external {
        address token = toAddress(terms.inputToken);
        if (token != address(0)) return IERC20(token).safeTransfer(msg.sender, terms.inputAmount);
        (bool paid,) = msg.sender.call{value: terms.inputAmount}("");
        if (!paid) revert IGeoAccount.PaymentFailed();
    }
}
