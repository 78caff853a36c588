# SPDX-License-Identifier: Apache-2.0
"""The plan of an assessment: what is declared before anything is counted, from one model.

model      the declared fields; JSON Schema, the docs page and the template come from them
spots      at which line of a plan each key stands
text       TOML, YAML or JSON as one document, without bombs
rules      what must hold between fields
loading    a plan as read, or every error in it at once
template   a commented plan to begin with
"""
