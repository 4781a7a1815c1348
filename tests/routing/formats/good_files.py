"""Files of the formats that are good, for tests to read and to spoil."""

WINDOWS = """NAME : windows
TYPE : VRPTW
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 30 40
3 0 5
DEMAND_SECTION
1 4
2 0
3 6
SERVICE_TIME_SECTION
1 7
2 0
3 0.5
TIME_WINDOW_SECTION
1 55 60
2 0 200
3 10 90.25
DEPOT_SECTION
2
-1
EOF
"""
SOLOMON = """X101

VEHICLE
NUMBER     CAPACITY
  25         200

CUSTOMER
CUST NO.   XCOORD.    YCOORD.    DEMAND   READY TIME   DUE DATE   SERVICE   TIME

    0      40         50          0          0       1236          0
    1      45         68         10        912        967         90
    2      45.5       70         30        825        870.5       90
    3      42         66         10         65        146         90
"""
NUMBERS = "3 10\n4 25 3 \n0 0\n 1000      0\n-0 -7.5\n1e1\n+10\n"
PLANE = """NAME: five
TYPE : TSP (somebody)
COMMENT : by hand
DIMENSION	:  5
EDGE_WEIGHT_TYPE: CEIL_2D
DISPLAY_DATA_TYPE: COORD_DISPLAY
NODE_COORD_SECTION
0001 0.00 3e1
 3 40  0
2 -1.5 2

4 30 40
5  0 -7
EOF
anything
"""
TOUR = "NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n2 4\n1\n3\n-1\nEOF\n"
