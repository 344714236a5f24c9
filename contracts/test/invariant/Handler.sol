// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order} from "../../src/Order.sol";
import {EscrowState, IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {CapKind} from "../../src/interfaces/IGeoVault.sol";
import {unword} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Intruder} from "../mocks/Intruder.sol";
import {Token} from "../mocks/Token.sol";
import {Acting} from "./Acting.sol";
import {TroubleActions} from "./TroubleActions.sol";

/// @dev What a campaign calls, and what it is held against after every call and at its end.
contract Handler is TroubleActions {
    constructor(uint256 window) Acting(window) {
        vm.warp(1_800_000_000);
        _deployChains();
        for (uint256 i = 0; i < wallets.length; ++i) {
            nativeOf[wallets[i]] = INVENTORY;
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            nativeOf[address(vaults[chain])] = INVENTORY;
            _goTo(chain);
            vm.recordLogs();
            for (uint256 i = 0; i < tokens.length; ++i) {
                vm.prank(config);
                vaults[chain].setCap(CapKind.Fill, tokens[i], NATIVE, 1e26);
            }
            _listMoves(chain);
            _book(0);
        }
    }

    /// @dev The native token that is lent to the wrapped one comes back here.
    receive() external payable {}

    /// @dev Everything that a campaign does, by the name under which its effects are counted.
    function actions() external pure returns (string[] memory list) {
        list = new string[](55);
        list[0] = "openAcrossChains";
        list[1] = "openOnOneChain";
        list[2] = "openForeign";
        list[3] = "openBadly";
        list[4] = "openWithinOpen";
        list[5] = "openAgain";
        list[6] = "openForTyped";
        list[7] = "openForPersonal";
        list[8] = "openMany";
        list[9] = "openManyStarved";
        list[10] = "openByAgent";
        list[11] = "agentLeavesItsMandate";
        list[12] = "openUnsigned";
        list[13] = "replay";
        list[14] = "revoke";
        list[15] = "release";
        list[16] = "refundEarly";
        list[17] = "releaseMany";
        list[18] = "refundMany";
        list[19] = "refundByAnyone";
        list[20] = "refundWhenTimeHasCome";
        list[21] = "claim";
        list[22] = "claimTo";
        list[23] = "claimVaultsCredit";
        list[24] = "forgeAttestation";
        list[25] = "foreignVaultActs";
        list[26] = "fill";
        list[27] = "fillThroughRouter";
        list[28] = "fillMany";
        list[29] = "topUp";
        list[30] = "topUpRefused";
        list[31] = "voidOne";
        list[32] = "voidMany";
        list[33] = "trade";
        list[34] = "tradeOutside";
        list[35] = "send";
        list[36] = "bridge";
        list[37] = "moveOutside";
        list[38] = "setMoveCap";
        list[39] = "setFeed";
        list[40] = "pricesMove";
        list[41] = "pause";
        list[42] = "unpause";
        list[43] = "setCap";
        list[44] = "withdraw";
        list[45] = "actWithoutTheRole";
        list[46] = "timePasses";
        list[47] = "timeComesToADeadline";
        list[48] = "tokenBlocks";
        list[49] = "tokenTakesAFee";
        list[50] = "tokenRebases";
        list[51] = "walletRefuses";
        list[52] = "donate";
        list[53] = "reenter";
        list[54] = "reenterWhilePaying";
    }

    /// @dev How many calls of each action took effect.
    function report() external view returns (string memory text) {
        text = string.concat(
            "credits ",
            vm.toString(credits),
            ", losses ",
            vm.toString(losses),
            ", live ",
            vm.toString(live.length),
            ", orders ",
            vm.toString(orders.length),
            ", "
        );
        string[] memory list = this.actions();
        for (uint256 i = 0; i < list.length; ++i) {
            text = string.concat(text, list[i], " ", vm.toString(effects[list[i]]), ", ");
        }
    }

    /// @dev I1: what an escrow holds is what its open orders and its credits name.
    function escrowsHoldWhatTheyOwe() external view returns (bool) {
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            address escrow = address(escrows[chain]);
            for (uint256 i = 0; i < tokens.length; ++i) {
                int256 owed = int256(openSum[escrow][tokens[i]] + creditSum[escrow][tokens[i]]);
                if (int256(_balance(tokens[i], escrow)) != owed + extra[escrow][tokens[i]]) return false;
            }
        }
        return true;
    }

    /// @dev I9, I3 for the native token, which keeps no record of who paid whom.
    function nativeBalancesAreAccountedFor() external view returns (bool) {
        for (uint256 i = 0; i < wallets.length; ++i) {
            if (wallets[i].balance != nativeOf[wallets[i]]) return false;
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            if (address(vaults[chain]).balance != nativeOf[address(vaults[chain])]) return false;
        }
        return relayer.balance == nativeOf[relayer] && safe.balance == nativeOf[safe];
    }

    /// @dev I13: nothing but an order's own call ever had an allowance.
    function noAllowanceIsLeft() external view returns (bool) {
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            if (wrapped.allowance(address(vaults[chain]), address(router)) != 0) return false;
            for (uint256 i = 1; i < tokens.length; ++i) {
                Token token = Token(tokens[i]);
                if (token.allowance(address(vaults[chain]), address(router)) != 0) return false;
                if (token.allowance(routes[chain], address(messenger)) != 0) return false;
                for (uint256 w = 0; w < wallets.length; ++w) {
                    if (token.allowance(wallets[w], address(escrows[chain])) != 0) return false;
                }
            }
        }
        return true;
    }

    /// @dev The credits that an escrow names are those that its events named.
    function creditsAreAsBooked() public view returns (bool) {
        address[] memory all = _beneficiaries();
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            for (uint256 i = 0; i < tokens.length; ++i) {
                uint256 sum = 0;
                for (uint256 b = 0; b < all.length; ++b) {
                    sum += escrows[chain].credit(tokens[i], all[b]);
                }
                if (sum != creditSum[address(escrows[chain])][tokens[i]]) return false;
            }
        }
        return true;
    }

    /// @dev I12, at the end of a campaign. The service is gone, every order's time has come, and tokens and wallets
    /// behave again. Then everyone gets out what they put in, and the escrows keep nothing but what was given to them.
    function everyoneLeaves() external {
        _begin(0);
        blocking.setQuiet(false);
        fee.setFee(0);
        for (uint256 w = 0; w < wallets.length; ++w) {
            blocking.setBlocked(wallets[w], false);
        }
        // An order may name the third party as its origin vault, which a release then finds blocked.
        blocking.setBlocked(stranger, false);
        for (uint256 w = 2; w < wallets.length; ++w) {
            Intruder(payable(wallets[w])).setOnReceive(Intruder.OnReceive.Accept);
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            (address escrow, address vault) = (address(escrows[chain]), address(vaults[chain]));
            blocking.setBlocked(escrow, false);
            blocking.setBlocked(vault, false);
            // No account owes what a rebase took. It is put back, to check that nothing else is missing.
            uint256 missing = INVENTORY;
            rebasing.mint(escrow, missing);
            extra[escrow][address(rebasing)] += int256(missing);
        }
        vm.warp(vm.getBlockTimestamp() + 3 days);
        for (uint256 i = 0; i < orders.length; ++i) {
            bytes32 id = ids[i];
            _checkStates(id);
            if (entries[id].escrow != EscrowState.Opened) continue;
            _goTo(_chainOf(orders[i].originChainId));
            bool ok = _call(stranger, unword(orders[i].escrow), abi.encodeCall(IGeoEscrow.refund, (orders[i])));
            _check(ok, "I12: an order could not be refunded after its refundAfter");
            _book(0);
        }
        _claimEverything();
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            for (uint256 i = 0; i < tokens.length; ++i) {
                int256 left = int256(_balance(tokens[i], address(escrows[chain])));
                _check(left == extra[address(escrows[chain])][tokens[i]], "I12: an escrow kept what is not its own");
            }
        }
    }

    function _claimEverything() private {
        address[] memory all = _beneficiaries();
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            _goTo(chain);
            for (uint256 i = 0; i < tokens.length; ++i) {
                for (uint256 b = 0; b < all.length; ++b) {
                    if (creditOf[address(escrows[chain])][tokens[i]][all[b]] == 0) continue;
                    bytes memory data = abi.encodeCall(IGeoEscrow.claim, (tokens[i], all[b]));
                    bool ok = _call(stranger, address(escrows[chain]), data);
                    _check(ok, "I12: a credit could not be claimed");
                    _book(0);
                }
            }
        }
    }

    /// @dev Everyone whom an order can name as its wallet or its origin vault. A mandate that was signed for one chain may
    /// name the vault of the other, so that an escrow's credits can belong to either vault.
    function _beneficiaries() private view returns (address[] memory list) {
        list = new address[](wallets.length + CHAINS + 1);
        for (uint256 w = 0; w < wallets.length; ++w) {
            list[w] = wallets[w];
        }
        for (uint256 chain = 0; chain < CHAINS; ++chain) {
            list[wallets.length + chain] = address(vaults[chain]);
        }
        list[wallets.length + CHAINS] = stranger;
    }
}
