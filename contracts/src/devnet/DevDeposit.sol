// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Terms, toAddress} from "../Order.sol";

/// @title DevDeposit
/// @notice For the gas report: the least that a deposit can be, a transfer and an event, with nothing remembered. It
/// guarantees nothing and gives nothing back.
contract DevDeposit {
    event Deposited(address indexed wallet, Terms terms);

    /// @notice Takes the input and forgets it.
    function deposit(Terms calldata terms) external {
        emit Deposited(msg.sender, terms);
        SafeERC20.safeTransferFrom(IERC20(toAddress(terms.inputToken)), msg.sender, address(this), terms.inputAmount);
    }
}
